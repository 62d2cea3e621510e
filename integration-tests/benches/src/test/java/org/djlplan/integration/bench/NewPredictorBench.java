package org.djlplan.integration.bench;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

/** Measures the cost of a new predictor for each request, planned and stock. */
@Tag("bench")
@Tag("djl-current")
class NewPredictorBench {

    private static final int SETTLING_PREDICTIONS = 10;

    @TempDir Path folder;

    /** A prediction before predictors are timed. */
    private interface Settling {
        void predict(ZooModel<NDList, NDList> model, int seed) throws Exception;
    }

    @Test
    void print() throws Exception {
        Torch.threads(1);
        Path file = folder.resolve("one.tflite");
        TfLiteWriter.write(OddModels.singleOperator(), file);
        try (StockInterpreter shapes = new StockInterpreter(file, 1)) {
            List<ByteBuffer> inputs = shapes.randomInputs(1);
            print(
                    "TFLite",
                    Planned.loadPlain(file, 1),
                    Planned.loadDirectly(file, Map.of("memplan.threads", 1)),
                    (model, seed) -> Planned.predict(model, inputs, shapes.shapes()));
        }
        Path script = Torch.copy(TorchScriptModels.named("cnn"), folder);
        ModelInputs images = ModelInputs.floats(new long[] {1, 3, 32, 32});
        print(
                "PyTorch, TorchScript",
                Torch.loadStock(script),
                Torch.load(script, Map.of()),
                (model, seed) -> Torch.predict(model, images, seed));
        for (BlockModels.Kind kind : BlockModels.Kind.values()) {
            Path blocks = Files.createDirectory(folder.resolve(kind.name()));
            BlockModels.save(kind, blocks);
            print(
                    "PyTorch, " + kind.name().toLowerCase(Locale.ROOT),
                    BlockModels.loadStock(kind, blocks),
                    BlockModels.load(kind, blocks, Map.of()),
                    (model, seed) -> Torch.predict(model, BlockModels.INPUTS, seed));
        }
    }

    private static void print(
            String name,
            ZooModel<NDList, NDList> stock,
            ZooModel<NDList, NDList> planned,
            Settling settling)
            throws Exception {
        try (stock;
                planned) {
            for (int seed = 0; seed < SETTLING_PREDICTIONS; seed++) {
                settling.predict(stock, seed);
                settling.predict(planned, seed);
            }
            Rounds rounds =
                    new Rounds()
                            .step("stock", () -> stock.newPredictor().close())
                            .step("planned", () -> planned.newPredictor().close());
            rounds.run(400, 1, 200).run(1_001, 1, 200);
            rounds.print(name + ": newPredictor() and close()", "µs", 1e3);
        }
    }
}
