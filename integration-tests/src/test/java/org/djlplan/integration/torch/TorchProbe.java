package org.djlplan.integration.torch;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.hash.Hashing;

/** Actions that tests run in a separate JVM. Each prints numbers and words, separated by spaces. */
public final class TorchProbe {

    /** Its arena is about as large as three of its intermediates. */
    private static final long WIDTH = 1000;

    private static final int KINDS = 6;

    private TorchProbe() {}

    /** {@code predict FILE CATALOGUE-NAME THREADS PREDICTIONS} or {@code retain FILE}. */
    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "predict" -> {
                Torch.threads(Integer.parseInt(args[3]));
                ModelInputs inputs = TorchScriptModels.named(args[2]).inputSets().get(0);
                System.out.println(
                        String.join(
                                " ", predict(Path.of(args[1]), inputs, Integer.parseInt(args[4]))));
            }
            case "retain" -> retain(Path.of(args[1]));
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    /**
     * Predicts with the inputs of the seeds from 0 on.
     *
     * @return a hash of all outputs, unplanned predictions, unplanned allocations, recordings
     */
    public static List<String> predict(Path file, ModelInputs inputs, int predictions)
            throws Exception {
        try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of());
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            List<List<Output>> answers = new ArrayList<>();
            for (int seed = 0; seed < predictions; seed++) {
                answers.add(Torch.predict(predictor, inputs, seed));
            }
            PlanReport report = Torch.report(model);
            return List.of(
                    hash(answers),
                    Long.toString(report.predictions().unplanned()),
                    Long.toString(report.predictions().unplannedAllocations()),
                    Long.toString(report.predictions().recorded()));
        }
    }

    /** Returns a hash that is the same in every JVM. */
    public static String hash(List<List<Output>> answers) {
        return Hashing.sha256().hashString(answers.toString(), StandardCharsets.UTF_8).toString();
    }

    /**
     * Retains outputs that lie inside an arena, one for each of several plans. Prints the arena's
     * size, how much the process grew, and whether the outputs kept their bytes.
     */
    private static void retain(Path file) throws Exception {
        Torch.threads(1);
        try (ZooModel<NDList, String> model =
                        Torch.load(
                                file,
                                String.class,
                                Map.of(),
                                PlannedTranslatorFactory.wrap(new InsideTranslator()));
                Predictor<NDList, String> inside = model.newPredictor();
                Predictor<NDList, NDList> bare = model.newPredictor(new BareTranslator());
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            List<NDList> inputs = new ArrayList<>();
            List<String> expected = new ArrayList<>();
            for (int kind = 0; kind < KINDS; kind++) {
                inputs.add(ModelInputs.floats(new long[] {4, WIDTH + kind}).create(manager, kind));
                String unused = inside.predict(inputs.get(kind)); // recorded
                TorchMemory.settle();
                expected.add(inside.predict(inputs.get(kind)));
            }
            long before = ProcessSize.residentBytes();
            List<NDList> retained = new ArrayList<>();
            for (NDList input : inputs) {
                retained.add(bare.predict(input));
            }
            long grown = ProcessSize.residentBytes() - before;
            boolean same = true;
            for (int kind = 0; kind < KINDS; kind++) {
                same &= Output.copyOf(retained.get(kind)).toString().equals(expected.get(kind));
            }
            System.out.println(Torch.report(model).plan().arenaBytes() + " " + grown + " " + same);
        }
    }
}
