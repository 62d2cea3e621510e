package org.djlplan.integration.torch;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.memplan.PlannedTranslatorFactory;

/**
 * Retains outputs that lie inside an arena, one for each of several plans. Prints the arena's size,
 * how much the process grew, and whether the outputs kept their bytes. The argument is the "wide"
 * model.
 */
public final class TorchProbe {

    /** Its arena is about as large as three of its intermediates. */
    private static final long WIDTH = 1000;

    private static final int KINDS = 6;

    private TorchProbe() {}

    public static void main(String[] arguments) throws Exception {
        Torch.threads(1);
        try (ZooModel<NDList, String> model =
                        Torch.load(
                                Path.of(arguments[0]),
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
