package org.djlplan.integration.current;

import static org.djlplan.integration.current.PlaceholderModel.expected;
import static org.djlplan.integration.current.PlaceholderModel.values;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.Planned;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests commands on a model whose file has placeholder shapes: they need an input shape. */
@Tag("djl-current")
class PlaceholderCommandsTest {

    private static final float NEAR = 1e-3f;

    @TempDir Path folder;
    private Path file;

    @BeforeEach
    void writeModel() throws Exception {
        file = PlaceholderModel.WINDOW.write(folder);
    }

    private static Result assertExits(int code, String... arguments) throws Exception {
        Result result = DjlPlanProcess.runHere(arguments);
        assertEquals(code, result.exitCode(), result.err());
        return result;
    }

    private void assertShapeMissing(String command, String shape) throws Exception {
        String error = assertExits(1, command, file.toString()).err();
        assertTrue(error.contains("placeholders of [" + shape + "]: give --input-shape"), error);
    }

    /** Like the spectrogram of openWakeWord: 80 ms of sound are 1,280 samples. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"run | (1, -1, -1, 3)", "tune | [1, -1, -1, 3]"})
    @Timeout(200)
    void command_noInputShape_saysThatItIsMissing(String command, String shape) throws Exception {
        assertShapeMissing(command, shape);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"compare", "size", "budget"})
    @Timeout(200)
    void otherCommand_noInputShape_saysThatItIsMissing(String command) throws Exception {
        assertShapeMissing(command, "(1, -1, -1, 3)");
    }

    @Test
    @Timeout(200)
    void report_noInputShape_saysThatItMayBeMissingAndShowsTheFile() throws Exception {
        String page = folder.resolve("page.html").toString();
        String error = assertExits(0, "report", "--html", page, file.toString()).err();
        assertTrue(error.contains("may be placeholders: give --input-shape"), error);
    }

    /** A length of 0 instead of 1. */
    @Test
    @Timeout(200)
    @Tag("long")
    void run_noLengthInTheFile_predicts() throws Exception {
        ModelSketch model = new ModelSketch();
        int x = model.input(ElementType.FLOAT32, 1, 0, 0, 3);
        model.leaveOpen(x, 1, -1, -1, 3);
        model.output(
                PlaceholderModel.relu(model, PlaceholderModel.window(model, "CONV_2D", x, 3, 4)));
        Path open = model.write(folder.resolve("open.tflite"));
        assertExits(0, "run", "--input-shape", "1,9,9,3", open.toString());
    }

    @Test
    @Timeout(200)
    void tune_inputShape_isUsedAfterOnePrediction() throws Exception {
        String shape = "--input-shape=1,32,24,3";
        Result result =
                assertExits(0, "tune", "--budget=1s", "--threads=1", shape, file.toString());
        assertTrue(result.out().contains("at [[[1, 32, 24, 3]]]"), result.out());
        assertTrue(result.out().contains("delegation.enabled=every-shape"), result.out());
        Map<String, Object> options =
                Map.of(
                        "memplan.threads", 1,
                        "delegation.profile", "off",
                        "delegation.enabled", "every-shape");
        try (ZooModel<NDList, NDList> model = Planned.loadDirectly(file, options)) {
            List<List<Integer>> shapes = List.of(List.of(1, 32, 24, 3));
            assertNear(expected(file, shapes), Planned.predict(model, values(shapes), shapes));
            Await.until(() -> otherShapes(model).contains("measured at [[[1, 32, 24, 3]]]"));
            assertNear(expected(file, shapes), Planned.predict(model, values(shapes), shapes));
        }
    }

    private static String otherShapes(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().delegation().orElseThrow().otherShapes();
    }

    private static FloatBuffer floats(List<ByteBuffer> outputs) {
        return outputs.get(0).duplicate().order(ByteOrder.nativeOrder()).asFloatBuffer();
    }

    private static void assertNear(List<ByteBuffer> expected, List<ByteBuffer> outputs) {
        FloatBuffer values = floats(expected);
        FloatBuffer actual = floats(outputs);
        assertEquals(values.remaining(), actual.remaining());
        while (values.hasRemaining()) {
            float value = values.get();
            assertEquals(value, actual.get(), NEAR * Math.max(1, Math.abs(value)));
        }
    }
}
