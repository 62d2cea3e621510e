package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.BudgetRefusal;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.PlanReport;

/** Loads models with a budget. */
final class Budgeted {

    private Budgeted() {}

    /** Copies a model into a separate folder, because derived files are stored beside it. */
    static Path copy(BudgetModels model, Path folder) throws IOException {
        Path own = Files.createTempDirectory(folder, "model");
        return Files.copy(model.file(), own.resolve("model.tflite"));
    }

    /** Writes a model for all sizes of images, with 12 MB of weights, in layers of 1 to 5 MB. */
    static void writeConvolutional(Path file) throws IOException {
        NetworkBuilder network = new NetworkBuilder("fully convolutional", 1);
        LayerOutput x = network.input("input", 1, 32, 32, 8);
        x = network.conv2d(x, 64, 3, 2, Activation.RELU);
        x = network.conv2d(x, 512, 3, 2, Activation.RELU);
        x = network.conv2d(x, 256, 3, 1, Activation.RELU);
        LayerOutput y = network.conv2d(x, 256, 3, 1, Activation.NONE);
        x = network.add(x, y, Activation.RELU);
        x = network.conv2d(x, 384, 3, 2, Activation.RELU);
        TfLiteWriter.write(
                network.output(network.conv2d(x, 4, 1, 1, Activation.NONE)).build(), file);
    }

    /** Loads a model with a budget as users write it, and with a way to read weights. */
    static ZooModel<NDList, NDList> load(Path file, String budget, String io, int threads)
            throws IOException, ModelException {
        return Planned.load(
                file, Map.of("memplan.budget", budget + ":" + io, "memplan.threads", threads));
    }

    /**
     * Returns the smallest budget in which a model runs, from the error message of a smaller one.
     */
    static long leastBytes(Path file, int threads) {
        return leastBytes(file, 1000, threads);
    }

    /** Returns the smallest budget that the error message of a smaller one names. */
    static long leastBytes(Path file, long budgetBytes, int threads) {
        String budget = budgetBytes + "B";
        ModelException e =
                assertThrows(
                        ModelException.class, () -> load(file, budget, "auto", threads).close());
        return BudgetRefusal.in(e).leastBytes();
    }

    /** Returns the smallest budget plus a third of the file's size. */
    static String third(Path file, int threads) throws IOException {
        return Long.toString(leastBytes(file, threads) + Files.size(file) / 3);
    }

    /** Returns the report of a model's budget. */
    static BudgetReport report(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().budget().orElseThrow();
    }

    /** The stock engine's outputs for some random inputs. */
    record Answers(
            List<List<Integer>> shapes,
            List<List<ByteBuffer>> inputs,
            List<List<ByteBuffer>> outputs) {

        static Answers of(Path file, int threads, int count) {
            try (StockInterpreter stock = new StockInterpreter(file, threads)) {
                List<List<ByteBuffer>> inputs = new ArrayList<>();
                List<List<ByteBuffer>> outputs = new ArrayList<>();
                for (int seed = 0; seed < count; seed++) {
                    inputs.add(stock.randomInputs(seed));
                    outputs.add(stock.run(inputs.get(seed)));
                }
                return new Answers(stock.shapes(), inputs, outputs);
            }
        }

        /** Asserts that a model's outputs for these inputs are the stock engine's. */
        void assertAnsweredBy(ZooModel<NDList, NDList> model) throws TranslateException {
            try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
                NDManager manager = model.getNDManager();
                for (int i = 0; i < inputs.size(); i++) {
                    List<ByteBuffer> found =
                            Planned.predict(predictor, manager, inputs.get(i), shapes);
                    assertEquals(outputs.get(i), found, "input " + i);
                }
            }
        }
    }
}
