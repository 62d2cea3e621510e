package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.MalformedModelException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.errors.UnsoundModelException;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteFormatException;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests models and inputs that would make the engine crash. Instead djl-plan throws an exception,
 * and the model still serves valid inputs: planned, plain, in a budget and in commands.
 */
@Tag("djl-current")
class UnsoundModelsTest {

    private static final Map<String, String> PLAIN = Map.of("memplan.enabled", "false");

    @TempDir Path folder;

    /** A slice of a row of eight numbers. */
    private Path slice(int begin, int size) throws Exception {
        ModelSketch sketch = new ModelSketch();
        int row = sketch.input(ElementType.FLOAT32, 1, 8);
        int begins = sketch.ints(0, begin);
        int sizes = sketch.ints(1, size);
        Form result = Form.of(ElementType.FLOAT32, 1, 3);
        sketch.output(sketch.operator("SLICE", Optional.empty(), result, row, begins, sizes));
        return sketch.write(folder.resolve("slice.tflite"));
    }

    private Path convolution(int stride) throws Exception {
        ModelSketch sketch = new ModelSketch();
        Form image = Form.of(ElementType.FLOAT32, 1, 8, 8, 1);
        FlatTable options =
                FlatTable.of("Conv2DOptions").with("stride_w", stride).with("stride_h", 1);
        int filter = sketch.floats(new int[] {1, 1, 1, 1}, 1);
        int bias = sketch.floats(new int[] {1}, 0);
        sketch.output(
                sketch.operator(
                        "CONV_2D", Optional.of(options), image, sketch.input(image), filter, bias));
        return sketch.write(folder.resolve("convolution.tflite"));
    }

    private static NDList predict(ZooModel<NDList, NDList> model, NDManager manager, Shape shape)
            throws Exception {
        try (var predictor = model.newPredictor()) {
            NDList outputs = predictor.predict(new NDList(manager.ones(shape)));
            outputs.attach(manager);
            return outputs;
        }
    }

    @ParameterizedTest
    @CsvSource({"100, 3", "-5, 3", "2147483647, 2147483647", "0, 100000"})
    void load_sliceOutsideOfItsInput_isRefused(int begin, int size) throws Exception {
        Path file = slice(begin, size);
        for (Map<String, String> options : List.of(PLAIN, Map.<String, String>of())) {
            MalformedModelException refused =
                    assertThrows(
                            MalformedModelException.class,
                            () -> Planned.load(file, options).close());
            assertTrue(refused.getMessage().contains("a slice of"), refused.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MAX_VALUE})
    void load_strideThatNoKernelChecks_isRefusedByItsPlace(int stride) throws Exception {
        Path file = convolution(stride);
        MalformedModelException refused =
                assertThrows(
                        MalformedModelException.class, () -> Planned.load(file, Map.of()).close());
        assertEquals(TfLiteFormatException.class, refused.getCause().getClass());
        assertTrue(refused.getMessage().contains("stride_w"), refused.getMessage());
    }

    /** A caller's numbers determine where the slice begins. */
    @Test
    void predict_sliceOutsideItsInput_isRejectedAndTheModelContinues() throws Exception {
        ModelSketch sketch = new ModelSketch();
        int row = sketch.floats(new int[] {1, 8}, 0, 1, 2, 3, 4, 5, 6, 7);
        int begin = sketch.input(ElementType.INT32, 2);
        Form result = Form.of(ElementType.FLOAT32, 1, 3);
        sketch.output(
                sketch.operator("SLICE", Optional.empty(), result, row, begin, sketch.ints(1, 3)));
        Path file = sketch.write(folder.resolve("begin.tflite"));
        for (Map<String, String> options : List.of(PLAIN, Map.<String, String>of())) {
            try (ZooModel<NDList, NDList> model = Planned.load(file, options);
                    NDManager manager = model.getNDManager().newSubManager();
                    var predictor = model.newPredictor()) {
                for (int outside : new int[] {100_000, 6, -1, Integer.MAX_VALUE}) {
                    NDArray at = manager.create(new int[] {0, outside});
                    assertUnsound(() -> predictor.predict(new NDList(at)));
                }
                NDArray at = manager.create(new int[] {0, 2});
                NDArray answer = predictor.predict(new NDList(at)).singletonOrThrow();
                assertEquals(List.of(2f, 3f, 4f), floats(answer));
            }
        }
    }

    /** Kernels of 2.20 and later mark computed sizes in another way than earlier ones. */
    @Test
    void predict_shapeThatIsComputed_givesTheValuesInThatShape() throws Exception {
        ModelSketch sketch = new ModelSketch();
        int row = sketch.floats(new int[] {1, 4}, 1, 2, 3, 4);
        int shape = sketch.input(ElementType.INT32, 2);
        Form result = Form.of(ElementType.FLOAT32, 2, 2);
        FlatTable options = FlatTable.of("ReshapeOptions");
        int reshaped = sketch.operator("RESHAPE", Optional.of(options), result, row, shape);
        sketch.output(sketch.operator("NEG", Optional.empty(), result, reshaped));
        Path file = sketch.write(folder.resolve("shape.tflite"));
        for (Map<String, String> given : List.of(PLAIN, Map.<String, String>of())) {
            try (ZooModel<NDList, NDList> model = Planned.load(file, given);
                    NDManager manager = model.getNDManager().newSubManager();
                    var predictor = model.newPredictor()) {
                for (int rows : new int[] {2, 4, 1}) {
                    NDArray wanted = manager.create(new int[] {rows, -1});
                    NDArray answer = predictor.predict(new NDList(wanted)).singletonOrThrow();
                    assertEquals(new Shape(rows, 4 / rows), answer.getShape());
                    assertEquals(List.of(-1f, -2f, -3f, -4f), floats(answer));
                }
                NDArray none = manager.create(new int[] {0, -1});
                assertUnsound(() -> predictor.predict(new NDList(none)));
            }
        }
    }

    private static List<Float> floats(NDArray array) {
        List<Float> numbers = new ArrayList<>();
        for (float number : array.toFloatArray()) {
            numbers.add(number);
        }
        return numbers;
    }

    private interface Prediction {
        void run() throws Exception;
    }

    private static void assertUnsound(Prediction prediction) {
        Exception refused = assertThrows(TranslateException.class, prediction::run);
        Throwable cause = Throwables.getRootCause(refused);
        assertEquals(UnsoundModelException.class, cause.getClass(), cause.toString());
    }

    @NeedsModels(RealModels.TFLITE)
    @Test
    void predict_imageTooSmallForTheModel_isRejectedAndTheModelContinues() throws Exception {
        Path file = RealModels.TFLITE.file("rnet");
        for (Map<String, String> options : List.of(PLAIN, Map.<String, String>of())) {
            try (ZooModel<NDList, NDList> model = Planned.load(file, options);
                    NDManager manager = model.getNDManager().newSubManager()) {
                assertUnsound(() -> predict(model, manager, new Shape(1, 12, 12, 3)));
                NDList answer = predict(model, manager, new Shape(1, 24, 24, 3));
                assertEquals(new Shape(1, 2), answer.get(0).getShape());
            }
        }
    }

    /** In a budget the model's weights are streamed from a copy. */
    @Test
    void predict_imageTooSmallInABudget_isRejectedAndTheModelContinues() throws Exception {
        Path file = TestModels.built("mobilenet_v2");
        try (ZooModel<NDList, NDList> model =
                        Planned.load(file, Map.of("memplan.budget", "40MB:best-effort"));
                NDManager manager = model.getNDManager().newSubManager()) {
            assertTrue(PlanReport.of(model).orElseThrow().budget().isPresent());
            assertThrows(
                    TranslateException.class,
                    () -> predict(model, manager, new Shape(1, 224, 224, 5)));
            NDList answer = predict(model, manager, new Shape(1, 224, 224, 3));
            assertEquals(1, answer.size());
        }
    }

    @Test
    void load_resultThatNoMachineHasMemoryFor_isRefusedAtOnce() throws Exception {
        ModelSketch sketch = new ModelSketch();
        int value = sketch.input(ElementType.FLOAT32, 1);
        Form result = Form.of(ElementType.FLOAT32, 1);
        int many = sketch.ints(1 << 30);
        sketch.output(sketch.operator("TILE", Optional.empty(), result, value, many));
        Path file = sketch.write(folder.resolve("tile.tflite"));
        MalformedModelException refused =
                assertThrows(
                        MalformedModelException.class, () -> Planned.load(file, PLAIN).close());
        assertTrue(refused.getMessage().contains("too many"), refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"run slice.tflite", "plan --live convolution.tflite"})
    void commands_unsoundModel_sayWhy(String command) throws Exception {
        slice(100, 3);
        convolution(0);
        String file = folder.resolve(command.substring(command.lastIndexOf(' ') + 1)).toString();
        Result result = DjlPlanProcess.runHere(command.replaceFirst("[^ ]+$", file).split(" ", -1));
        assertEquals(1, result.exitCode(), result.err());
        String reason = command.contains("slice") ? "a slice of 3 from 100 on" : "stride_w: 0";
        assertTrue(result.err().contains(reason), result.err());
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"run convolution.tflite", "compare slice.tflite"})
    void otherCommands_unsoundModel_sayWhy(String command) throws Exception {
        commands_unsoundModel_sayWhy(command);
    }
}
