package org.djlplan.integration.tflite.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.integration.networks.OddModels;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.tflite.TfLiteTests;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests models with one unusual property: a model is planned if the plan is safe, and otherwise
 * runs exactly as stock.
 */
class OddModelTest implements TfLiteTests {

    private static final int PREDICTIONS = 10;

    @TempDir Path folder;

    private Path write(TfLiteFile model) throws Exception {
        Path file = folder.resolve("model.tflite");
        TfLiteWriter.write(model, file);
        return file;
    }

    static Stream<Arguments> plannable() {
        return Stream.of(
                Arguments.of("an unused subgraph", OddModels.unusedSubgraph()),
                Arguments.of("a loop", OddModels.whileLoop()),
                Arguments.of("a branch", OddModels.branch()),
                Arguments.of("a state", OddModels.stateful()),
                Arguments.of("a single operator", OddModels.singleOperator()),
                Arguments.of("no operator", OddModels.noOperators()),
                Arguments.of("an output read later", OddModels.outputReadLater()),
                Arguments.of("outputs nobody writes", OddModels.outputIsInputAndConstant()),
                Arguments.of("tensors without elements", OddModels.emptyTensors()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("plannable")
    void predict_plannedModel_givesTheSequenceOfStock(String name, TfLiteFile model)
            throws Exception {
        Path file = write(model);
        List<List<ByteBuffer>> expected = new ArrayList<>();
        try (ZooModel<NDList, NDList> stock = Planned.loadStock(file)) {
            expected.addAll(sequence(stock, file, Optional.empty()));
        }
        assertTrue(expected.stream().distinct().count() > 1, "the inputs make no difference");
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> planned = Planned.load(file, Map.of())) {
            assertEquals(expected, sequence(planned, file, Optional.empty()));
            PlanReport report = PlanReport.of(planned).orElseThrow();
            assertTrue(report.planned(), report.toString());
            assertEquals(PREDICTIONS, report.predictions().total());
            assertEquals(0, report.predictions().unplanned());
            assertEquals(List.of(), log.ours("WARN"));
        }
    }

    /** Predicts with random inputs, except for the last input if it is given. */
    private static List<List<ByteBuffer>> sequence(
            ZooModel<NDList, NDList> model, Path file, Optional<int[]> lastInput) throws Exception {
        List<List<ByteBuffer>> outputs = new ArrayList<>();
        try (StockInterpreter shapes = new StockInterpreter(file, 1);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int seed = 0; seed < PREDICTIONS; seed++) {
                List<ByteBuffer> inputs = shapes.randomInputs(seed);
                lastInput.ifPresent(
                        numbers -> {
                            ByteBuffer last = inputs.get(inputs.size() - 1);
                            for (int i = 0; i < numbers.length; i++) {
                                last.putInt(i * Integer.BYTES, numbers[i]);
                            }
                        });
                outputs.add(
                        Planned.predict(predictor, model.getNDManager(), inputs, shapes.shapes()));
            }
        }
        return outputs;
    }

    @Test
    void predict_outputWithoutElements_isAnEmptyArray() throws Exception {
        TfLiteFile model = OddModels.emptyOutput();
        Path file = write(model);
        try (StockInterpreter stock = new StockInterpreter(file, -1);
                ZooModel<NDList, NDList> planned = Planned.load(file, Map.of())) {
            List<ByteBuffer> outputs =
                    Planned.predict(planned, stock.randomInputs(1), stock.shapes());
            assertEquals(List.of(0), outputs.stream().map(ByteBuffer::capacity).toList());
        }
    }

    static Stream<Arguments> dynamic() {
        return Stream.of(
                Arguments.of(OddModels.dynamicOutput(), 1, 1),
                Arguments.of(OddModels.dynamicOutput(), 3, 2),
                Arguments.of(OddModels.dynamicInside(), 7, 40));
    }

    @ParameterizedTest
    @MethodSource("dynamic")
    void predict_sizesKnownOnlyAtRunTime_runsAsStockWithOneWarning(
            TfLiteFile model, int rows, int columns) throws Exception {
        Path file = write(model);
        Optional<int[]> repeats = Optional.of(new int[] {rows, columns});
        List<List<ByteBuffer>> expected;
        Class<?> stockBlock;
        try (ZooModel<NDList, NDList> stock = Planned.loadStock(file)) {
            expected = sequence(stock, file, repeats);
            stockBlock = stock.getBlock().getClass();
        }
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> loaded = Planned.load(file, Map.of())) {
            assertEquals(expected, sequence(loaded, file, repeats));
            assertEquals(stockBlock, loaded.getBlock().getClass());
            String reason = PlanReport.of(loaded).orElseThrow().unplannedReason().orElseThrow();
            assertTrue(reason.contains("known only at run time"), reason);
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
            assertTrue(log.ours("WARN").get(0).endsWith(reason));
        }
    }

    @Test
    void load_customOperator_failsAsStock() throws Exception {
        assertFailsAsStock(write(OddModels.customOperator()), "NoSuchOperator");
    }

    @Test
    @NeedsModels(RealModels.TFLITE)
    void load_selfieSegmentation_failsAsStock() {
        assertFailsAsStock(
                RealModels.TFLITE.file("selfie_segmentation"), "Convolution2DTransposeBias");
    }

    private static void assertFailsAsStock(Path file, String part) {
        Throwable stock = failure(() -> Planned.loadStock(file).close());
        Throwable planned = failure(() -> Planned.load(file, Map.of()).close());
        assertEquals(stock.getClass(), planned.getClass());
        assertEquals(stock.getMessage(), planned.getMessage());
        assertTrue(planned.getMessage().contains(part), planned.getMessage());
        assertFalse(planned.getMessage().contains("djl-plan"));
    }

    private static Throwable failure(Executable load) {
        return Throwables.getRootCause(assertThrows(Exception.class, load));
    }
}
