package org.djlplan.integration.current;

import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import org.djlplan.integration.networks.OddModels;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures the cost of a new predictor for each request, planned and stock. Prints medians of
 * rounds that alternate; asserts nothing, because machines are noisy.
 */
@Tag("bench")
@Tag("djl-current")
class NewPredictorBench {

    private static final int ROUNDS = 1_001;

    /** So few that they take less than a time slice of a busy system. */
    private static final int TIMES = 200;

    private static final int WARM_UP_ROUNDS = 400;

    private static final int SETTLING_PREDICTIONS = 10;

    @TempDir Path folder;

    @Test
    void print() throws Exception {
        Torch.threads(1);
        System.out.printf(
                Locale.ROOT,
                "DJL %s: microseconds of newPredictor() and close()%n%-24s %8s %8s %8s%n",
                Engine.getDjlVersion(),
                "",
                "stock",
                "planned",
                "more");
        printTfLite();
        Path script = Torch.copy(TorchScriptModels.named("cnn"), folder);
        ModelInputs images = ModelInputs.floats(new long[] {1, 3, 32, 32});
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(script);
                ZooModel<NDList, NDList> planned = Torch.load(script, Map.of())) {
            settle(stock, images);
            settle(planned, images);
            print("PyTorch, TorchScript", stock, planned);
        }
        for (BlockModels.Kind kind : BlockModels.Kind.values()) {
            Path blocks = Files.createDirectory(folder.resolve(kind.name()));
            BlockModels.save(kind, blocks);
            try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(kind, blocks);
                    ZooModel<NDList, NDList> planned = BlockModels.load(kind, blocks, Map.of())) {
                settle(stock, BlockModels.INPUTS);
                settle(planned, BlockModels.INPUTS);
                print("PyTorch, " + kind.name().toLowerCase(Locale.ROOT), stock, planned);
            }
        }
    }

    private void printTfLite() throws Exception {
        Path file = folder.resolve("one.tflite");
        TfLiteWriter.write(OddModels.singleOperator(), file);
        try (StockInterpreter shapes = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> stock = Planned.loadPlain(file, 1);
                ZooModel<NDList, NDList> planned =
                        Planned.loadDirectly(file, Map.of("memplan.threads", 1))) {
            for (ZooModel<NDList, NDList> model : Arrays.asList(stock, planned)) {
                for (int i = 0; i < SETTLING_PREDICTIONS; i++) {
                    try (Predictor<NDList, NDList> predictor = model.newPredictor();
                            NDManager manager = model.getNDManager().newSubManager()) {
                        predictor
                                .predict(
                                        Planned.inputs(
                                                manager, shapes.randomInputs(i), shapes.shapes()))
                                .close();
                    }
                }
            }
            print("TFLite", stock, planned);
        }
    }

    private static void settle(ZooModel<NDList, NDList> model, ModelInputs inputs)
            throws Exception {
        for (int seed = 0; seed < SETTLING_PREDICTIONS; seed++) {
            Torch.predict(model, inputs, seed);
        }
    }

    private static void print(
            String name, ZooModel<NDList, NDList> stock, ZooModel<NDList, NDList> planned) {
        double[] stockMicros = new double[ROUNDS];
        double[] plannedMicros = new double[ROUNDS];
        for (int round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
            // Rounds of the warm-up are overwritten.
            int at = Math.max(0, round);
            stockMicros[at] = micros(stock);
            plannedMicros[at] = micros(planned);
        }
        double before = median(stockMicros);
        double now = median(plannedMicros);
        System.out.printf(
                Locale.ROOT, "%-24s %8.2f %8.2f %+8.2f%n", name, before, now, now - before);
    }

    private static double micros(ZooModel<NDList, NDList> model) {
        long start = System.nanoTime();
        for (int i = 0; i < TIMES; i++) {
            model.newPredictor().close();
        }
        return (System.nanoTime() - start) / 1e3 / TIMES;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
