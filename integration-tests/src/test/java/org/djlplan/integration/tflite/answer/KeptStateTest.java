package org.djlplan.integration.tflite.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.networks.OddModels;
import org.djlplan.integration.support.Delegated;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.tflite.TfLiteTests;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.PlainModel;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.DelegationChoice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that nothing but a prediction changes what a model keeps from one to the next. */
@OnEveryDjl
class KeptStateTest implements TfLiteTests {

    private static final int PREDICTIONS = 10;
    private static final int THREADS = 4;
    private static final int PREDICTIONS_OF_EACH = 200;
    private static final int ROW = 16;

    /** Shapes of a row and a number. */
    private static final List<List<Integer>> LOOKUP = List.of(List.of(1, ROW), List.of(1));

    @TempDir Path folder;

    /** A prediction, planned or plain. */
    private interface Prediction {

        List<OutputTensor> run(List<ByteBuffer> values);
    }

    private Path write(TfLiteFile model) throws Exception {
        Path file = folder.resolve("model.tflite");
        TfLiteWriter.write(model, file);
        return file;
    }

    private static ServedModel opened(Path file) throws Exception {
        return Served.open(file, Served.options(Map.of("memplan.workers", 2)));
    }

    private static List<List<Integer>> shapes() {
        return List.of(List.of(1, ROW));
    }

    private static List<ByteBuffer> data(List<OutputTensor> outputs) {
        return outputs.stream().map(OutputTensor::data).toList();
    }

    @Test
    void switchTo_stateInBranches_givesTheSequenceOfStock() throws Exception {
        Path file = write(OddModels.statefulBranches());
        DelegationChoice choice =
                new DelegationChoice(
                        Delegated.all(file, Delegates.XNNPACK, 1).candidate(),
                        Origin.MEASURED,
                        "a test");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ServedModel model = opened(file)) {
            for (int i = 0; i < PREDICTIONS; i++) {
                List<ByteBuffer> inputs = stock.randomInputs(i);
                assertEquals(stock.run(inputs), data(model.run(inputs, shapes())), "number " + i);
                model.switchTo(choice);
            }
        }
    }

    @Test
    void run_stateInBranchesAtOnce_isOneState() throws Exception {
        Path file = write(OddModels.statefulBranches());
        try (ServedModel model = opened(file)) {
            assertOneState(file, values -> model.run(values, shapes()));
        }
    }

    @Test
    void run_resourceVariableAtOnce_isOneState() throws Exception {
        Path file = write(OddModels.resourceVariable());
        try (PlainModel model = PlainModel.open(file, 1)) {
            assertOneState(file, values -> model.run(values, shapes()));
        }
    }

    /**
     * Predicts with the same inputs on several threads. Stock gives all these outputs one after the
     * other; a second interpreter would begin again. (Later releases set the state of branches back
     * themselves.)
     */
    private static void assertOneState(Path file, Prediction prediction) throws Exception {
        List<Float> expected = new ArrayList<>();
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            for (int i = 0; i < THREADS * PREDICTIONS_OF_EACH; i++) {
                expected.add(firstNumber(stock.run(ones())));
            }
        }
        List<Float> sums = new ArrayList<>();
        Threads.all(
                        THREADS,
                        thread ->
                                IntStream.range(0, PREDICTIONS_OF_EACH)
                                        .mapToObj(i -> firstNumber(data(prediction.run(ones()))))
                                        .toList())
                .forEach(sums::addAll);
        Collections.sort(sums);
        assertEquals(expected, sums);
    }

    @Test
    void run_plannedPredictionFailed_goesOnWithTheState() throws Exception {
        Path file = write(OddModels.statefulLookup());
        try (ServedModel model = opened(file)) {
            assertGoesOn(file, values -> model.run(values, LOOKUP));
        }
    }

    @Test
    void run_plainPredictionFailed_goesOnWithTheState() throws Exception {
        Path file = write(OddModels.statefulLookup());
        try (PlainModel model = PlainModel.open(file, 1)) {
            assertGoesOn(file, values -> model.run(values, LOOKUP));
        }
    }

    /** Stock gets the same inputs but those that fail. */
    private static void assertGoesOn(Path file, Prediction prediction) {
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            for (int i = 0; i < PREDICTIONS; i++) {
                ByteBuffer row = stock.randomInputs(i).get(0);
                List<ByteBuffer> inputs = List.of(row, number(i % 4));
                assertEquals(stock.run(inputs), data(prediction.run(inputs)), "number " + i);
                List<ByteBuffer> wrong = List.of(row, number(99));
                assertThrows(IllegalStateException.class, () -> prediction.run(wrong));
            }
        }
    }

    private static ByteBuffer number(int number) {
        return ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder()).putInt(0, number);
    }

    private static List<ByteBuffer> ones() {
        ByteBuffer values = ByteBuffer.allocate(ROW * Float.BYTES).order(ByteOrder.nativeOrder());
        while (values.hasRemaining()) {
            values.putFloat(1);
        }
        return List.of(values.rewind());
    }

    private static float firstNumber(List<ByteBuffer> outputs) {
        return outputs.get(0).getFloat(0);
    }
}
