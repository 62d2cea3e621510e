package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.integration.support.BareInterpreter;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.RealModels;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests models whose file has placeholder shapes with which the engine cannot allocate tensors. */
@Tag("djl-current")
class PlaceholderTest {

    private static final int VALID = 1;
    private static final float NEAR = 1e-3f;
    private static final ImmutableList<Integer> LENGTHS = ImmutableList.of(3, 8, 5, 13, 4);

    @TempDir Path folder;

    /** A model and the shapes of its inputs for a given length. */
    @SuppressWarnings("ImmutableEnumChecker") // The functions have no state.
    private enum Case {
        WINDOW(
                n -> List.of(List.of(1, n, n + 2, 3)),
                model -> output(model, window(model, "CONV_2D", open(model, 1, -1, -1, 3), 3, 4))),
        BATCH_AND_WINDOW(
                n -> List.of(List.of(n, n + 1, 7, 3)),
                model -> output(model, window(model, "CONV_2D", open(model, -1, -1, -1, 3), 3, 4))),
        DEPTHWISE(
                n -> List.of(List.of(1, n, n, 2)),
                model -> {
                    int x = open(model, 1, -1, -1, 2);
                    output(model, window(model, "DEPTHWISE_CONV_2D", x, 2, 2));
                }),
        POOL(
                n -> List.of(List.of(1, n + 1, n, 2)),
                model -> {
                    int x = open(model, 1, -1, -1, 2);
                    FlatTable options =
                            strides("Pool2DOptions")
                                    .with("filter_width", 2)
                                    .with("filter_height", 2);
                    output(model, floats(model, "MAX_POOL_2D", options, List.of(1, 1, 1, 2), x));
                }),
        ROWS(
                n -> List.of(List.of(1, 4 * n)),
                model -> output(model, rows(model, open(model, 1, -1)))),
        ROWS_OF_A_BATCH(
                n -> List.of(List.of(n, 8)),
                model -> output(model, rows(model, open(model, -1, -1)))),
        SUM_OF_TWO(
                n -> List.of(List.of(1, 4 * n), List.of(n, 4)),
                model -> {
                    int x = rows(model, open(model, 1, -1));
                    int y = rows(model, open(model, -1, -1));
                    FlatTable options = FlatTable.of("AddOptions");
                    output(model, floats(model, "ADD", options, List.of(1, 4), x, y));
                }),
        TWO_LENGTHS(
                n -> List.of(List.of(1, 4 * n), List.of(1, 8 * n)),
                model -> {
                    output(model, rows(model, open(model, 1, -1)));
                    output(model, rows(model, open(model, 1, -1)));
                }),
        SEQUENCE(
                n -> List.of(List.of(1, 8 * n)),
                model -> {
                    int steps = relu(model, reshape(model, open(model, 1, -1), 2, 4));
                    FlatTable options = FlatTable.of("ReducerOptions").with("keep_dims", true);
                    int axis = model.ints(0);
                    model.output(floats(model, "SUM", options, List.of(1, 2, 4), steps, axis));
                }),
        PARTS(
                n -> List.of(List.of(1, 3 * n)),
                model -> {
                    int x = relu(model, open(model, 1, -1));
                    List<Integer> parts =
                            Stream.generate(() -> model.tensor(ElementType.FLOAT32, 1, 1))
                                    .limit(3)
                                    .toList();
                    FlatTable options = FlatTable.of("SplitOptions").with("num_splits", 3);
                    model.operator("SPLIT", Optional.of(options), parts, model.ints(1), x);
                    model.output(relu(model, parts.get(0)), parts.get(2));
                });

        /** Returns shapes of the inputs that the model can take. */
        private final IntFunction<List<List<Integer>>> shapes;

        private final Consumer<ModelSketch> build;

        Case(IntFunction<List<List<Integer>>> shapes, Consumer<ModelSketch> build) {
            this.shapes = shapes;
            this.build = build;
        }

        private static void output(ModelSketch model, int value) {
            model.output(relu(model, value));
        }

        private static int floats(
                ModelSketch model,
                String type,
                FlatTable options,
                List<Integer> shape,
                int... operands) {
            Form form = new Form(ElementType.FLOAT32, shape, 0, 0);
            return model.operator(type, Optional.of(options), form, operands);
        }

        /** Adds an input whose open dimensions are 1 in the file. */
        private static int open(ModelSketch model, Integer... signature) {
            int[] shape = Arrays.stream(signature).mapToInt(d -> d == -1 ? 1 : d).toArray();
            int input = model.input(ElementType.FLOAT32, shape);
            model.leaveOpen(input, signature);
            return input;
        }

        private static FlatTable strides(String options) {
            return FlatTable.of(options)
                    .with("padding", VALID)
                    .with("stride_w", 1)
                    .with("stride_h", 1);
        }

        private static int window(
                ModelSketch model, String type, int input, int channels, int outputs) {
            boolean depthwise = type.startsWith("DEPTHWISE");
            int[] filter =
                    depthwise ? new int[] {1, 3, 3, channels} : new int[] {outputs, 3, 3, channels};
            int elements = Arrays.stream(filter).reduce(1, (a, b) -> a * b);
            Random random = new Random(elements);
            float[] weights = new float[elements];
            IntStream.range(0, elements).forEach(i -> weights[i] = random.nextFloat() - .5f);
            FlatTable options =
                    depthwise
                            ? strides("DepthwiseConv2DOptions").with("depth_multiplier", 1)
                            : strides("Conv2DOptions");
            return floats(
                    model,
                    type,
                    options,
                    List.of(1, 1, 1, outputs),
                    input,
                    model.floats(filter, weights),
                    model.floats(new int[] {outputs}, new float[outputs]));
        }

        private static int rows(ModelSketch model, int input) {
            return reshape(model, input, 4);
        }

        /** Reshapes into rows of a number of elements; in the file there is one row. */
        private static int reshape(ModelSketch model, int input, Integer... each) {
            List<Integer> wanted = new ArrayList<>(List.of(-1));
            wanted.addAll(List.of(each));
            List<Integer> inFile = new ArrayList<>(wanted);
            inFile.set(0, 1);
            FlatTable options = FlatTable.of("ReshapeOptions").with("new_shape", wanted);
            return floats(model, "RESHAPE", options, inFile, input);
        }

        private static int relu(ModelSketch model, int input) {
            return model.floatOperator("RELU", new int[] {1, 1}, input);
        }
    }

    private Path file(Case each) throws Exception {
        Path file = folder.resolve(each + ".tflite");
        if (!Files.exists(file)) {
            ModelSketch model = new ModelSketch();
            each.build.accept(model);
            Path unused = model.write(file);
        }
        return file;
    }

    private static List<ByteBuffer> values(List<List<Integer>> shapes) {
        List<ByteBuffer> values = new ArrayList<>();
        for (List<Integer> shape : shapes) {
            int elements = shape.stream().reduce(1, (a, b) -> a * b);
            ByteBuffer value =
                    ByteBuffer.allocateDirect(4 * elements).order(ByteOrder.nativeOrder());
            Random random = new Random(elements);
            IntStream.range(0, elements).forEach(i -> value.putFloat(random.nextFloat() - .5f));
            values.add(value.rewind());
        }
        return values;
    }

    /** Returns the outputs of an engine that was resized before its first allocation. */
    private static List<ByteBuffer> expected(Path file, List<List<Integer>> shapes) {
        BareInterpreter engine =
                BareInterpreter.resized(
                        file,
                        1,
                        shapes.stream()
                                .map(s -> s.stream().mapToInt(Integer::intValue).toArray())
                                .toList());
        engine.setInputs(values(shapes));
        engine.run();
        return engine.outputs().stream().map(Planned::copy).toList();
    }

    private ZooModel<NDList, NDList> load(Path file, boolean planned) throws Exception {
        return planned
                ? Planned.loadDirectly(file, Map.of("memplan.threads", 1))
                : Planned.loadPlain(file, 1);
    }

    private void assertPredicts(Case each, boolean planned) throws Exception {
        Path file = file(each);
        try (ZooModel<NDList, NDList> model = load(file, planned)) {
            for (Shape shape : model.describeInput().values()) {
                assertTrue(Arrays.stream(shape.getShape()).anyMatch(d -> d == -1), "" + shape);
            }
            for (int round = 0; round < 2; round++) {
                for (int length : LENGTHS) {
                    List<List<Integer>> shapes = each.shapes.apply(length);
                    assertEquals(
                            expected(file, shapes),
                            Planned.predict(model, values(shapes), shapes),
                            each + " " + length);
                }
            }
            Optional<PlanReport> report = PlanReport.of(model);
            assertEquals(planned, report.isPresent());
            report.ifPresent(
                    r -> {
                        assertEquals(Optional.empty(), r.unplannedReason());
                        assertEquals(0, r.predictions().unplanned());
                    });
        }
    }

    @ParameterizedTest
    @EnumSource(Case.class)
    void predict_plannedAndPlain_givesTheBytesOfAnEngineThatWasResizedFirst(Case each)
            throws Exception {
        assertPredicts(each, true);
        assertPredicts(each, false);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void predict_shapeThatCannotWork_isAnErrorOfThatPrediction(boolean planned) throws Exception {
        Path file = file(Case.ROWS);
        try (ZooModel<NDList, NDList> model = load(file, planned)) {
            for (int round = 0; round < 2; round++) {
                for (List<Integer> bad : List.of(List.of(1, 7), List.of(1, 1))) {
                    List<List<Integer>> shapes = List.of(bad);
                    TranslateException refused =
                            assertThrows(
                                    TranslateException.class,
                                    () -> Planned.predict(model, values(shapes), shapes));
                    assertInstanceOf(IllegalStateException.class, refused.getCause());
                    assertTrue(refused.toString().contains("TensorFlow Lite"), "" + refused);
                }
                TranslateException wrongRank =
                        assertThrows(
                                TranslateException.class,
                                () ->
                                        Planned.predict(
                                                model,
                                                values(List.of(List.of(2, 2, 3))),
                                                List.of(List.of(2, 2, 3))));
                assertTrue(wrongRank.toString().contains("[1, -1]"), "" + wrongRank);
                List<List<Integer>> good = Case.ROWS.shapes.apply(3 + round);
                assertEquals(expected(file, good), Planned.predict(model, values(good), good));
            }
        }
    }

    /** Only the first prediction shows that sizes are unknown before the model runs. */
    @Test
    void predict_sizesKnownOnlyAtRunTime_runsInTheEnginesBlock() throws Exception {
        ModelSketch sketch = new ModelSketch();
        int x = Case.open(sketch, 1, -1);
        int rows = Case.rows(sketch, x);
        int size =
                sketch.operator(
                        "CAST",
                        Optional.of(FlatTable.of("CastOptions").with("out_data_type", 2)),
                        Form.of(ElementType.INT32, 2),
                        sketch.input(ElementType.FLOAT32, 2));
        int filled =
                sketch.floatOperator(
                        "FILL", new int[] {1, 1}, size, sketch.floats(new int[] {}, 1.5f));
        sketch.output(filled, Case.relu(sketch, rows));
        Path file = sketch.write(folder.resolve("unknown.tflite"));
        try (ZooModel<NDList, NDList> model = load(file, true)) {
            for (int length : LENGTHS) {
                List<List<Integer>> shapes = List.of(List.of(1, 4 * length), List.of(2));
                List<ByteBuffer> values = values(shapes);
                values.get(1).putFloat(0, length).putFloat(4, 3);
                List<ByteBuffer> results = Planned.predict(model, values, shapes);
                assertEquals(4 * length * 3, results.get(0).remaining());
                assertEquals(1.5f, results.get(0).order(ByteOrder.nativeOrder()).getFloat(0));
                assertEquals(4 * length * 4, results.get(1).remaining());
            }
            assertTrue(PlanReport.of(model).orElseThrow().unplannedReason().isPresent());
        }
    }

    /** The spectrogram of openWakeWord: 80 ms of sound are 1,280 samples. */
    @ParameterizedTest
    @ValueSource(strings = "run")
    @Timeout(200)
    void command_noInputShape_saysThatItIsMissing(String command) throws Exception {
        Result result = DjlPlanProcess.runHere(command, placeholders().toString());
        assertEquals(1, result.exitCode(), result.err());
        assertTrue(
                result.err().contains("placeholders of [(1, -1, -1, 3)]: give --input-shape"),
                result.err());
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"compare", "size", "budget"})
    @Timeout(200)
    void otherCommand_noInputShape_saysThatItIsMissing(String command) throws Exception {
        command_noInputShape_saysThatItIsMissing(command);
    }

    @Test
    @Timeout(200)
    void report_noInputShape_saysThatItMayBeMissingAndShowsTheFile() throws Exception {
        Path page = folder.resolve("page.html");
        Result result =
                DjlPlanProcess.runHere(
                        "report", "--html", page.toString(), placeholders().toString());
        assertEquals(0, result.exitCode(), result.err());
        assertTrue(result.err().contains("may be placeholders: give --input-shape"), result.err());
    }

    /** A length of 0 instead of 1. */
    @Test
    @Timeout(200)
    @Tag("long")
    void run_noLengthInTheFile_predicts() throws Exception {
        ModelSketch model = new ModelSketch();
        int x = model.input(ElementType.FLOAT32, 1, 0, 0, 3);
        model.leaveOpen(x, 1, -1, -1, 3);
        model.output(Case.relu(model, Case.window(model, "CONV_2D", x, 3, 4)));
        Path file = model.write(folder.resolve("open.tflite"));
        Result result = DjlPlanProcess.runHere("run", "--input-shape", "1,9,9,3", file.toString());
        assertEquals(0, result.exitCode(), result.err());
    }

    @Test
    @Timeout(200)
    void tune_placeholders_saysThatAShapeIsMissing() throws Exception {
        Result result = DjlPlanProcess.runHere("tune", placeholders().toString());
        assertEquals(1, result.exitCode(), result.err());
        assertTrue(
                result.err().contains("placeholders of [[1, -1, -1, 3]]: give --input-shape"),
                result.err());
    }

    @Test
    @Timeout(200)
    void tune_inputShape_isUsedAfterOnePrediction() throws Exception {
        Path file = placeholders();
        Result result =
                DjlPlanProcess.runHere(
                        "tune",
                        "--budget=1s",
                        "--threads=1",
                        "--input-shape=1,32,24,3",
                        file.toString());
        assertEquals(0, result.exitCode(), result.err());
        assertTrue(result.out().contains("at [[[1, 32, 24, 3]]]"), result.out());
        assertTrue(result.out().contains("delegation.enabled=every-shape"), result.out());
        Map<String, Object> options =
                Map.of(
                        "memplan.threads",
                        1,
                        "delegation.profile",
                        "off",
                        "delegation.enabled",
                        "every-shape");
        try (ZooModel<NDList, NDList> model = Planned.loadDirectly(file, options)) {
            List<List<Integer>> shapes = List.of(List.of(1, 32, 24, 3));
            FloatBuffer expected = floats(expected(file, shapes));
            assertNear(
                    expected.duplicate(), floats(Planned.predict(model, values(shapes), shapes)));
            Await.until(() -> otherShapes(model).contains("measured at [[[1, 32, 24, 3]]]"));
            assertNear(expected, floats(Planned.predict(model, values(shapes), shapes)));
        }
    }

    private Path placeholders() throws Exception {
        ModelSketch model = new ModelSketch();
        Case.WINDOW.build.accept(model);
        return model.write(folder.resolve("placeholders.tflite"));
    }

    @Test
    @NeedsModels(RealModels.OPEN_SHAPES)
    void predict_spectrogram_givesTheBytesOfAnEngineThatWasResizedFirst() throws Exception {
        Path file = RealModels.OPEN_SHAPES.file("melspectrogram");
        try (ZooModel<NDList, NDList> model =
                Planned.loadDirectly(file, Map.of("memplan.threads", 1))) {
            assertEquals(new Shape(-1, -1), model.describeInput().valueAt(0));
            assertFalse(PlanReport.of(model).orElseThrow().delegation().isPresent());
            for (int samples : List.of(1280, 1760, 16000, 640, 12400)) {
                List<List<Integer>> shapes = List.of(List.of(1, samples));
                assertEquals(
                        expected(file, shapes), Planned.predict(model, values(shapes), shapes));
            }
            assertTrue(PlanReport.of(model).orElseThrow().plan().arenaBytes() > 0);
        }
    }

    private static String otherShapes(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().delegation().orElseThrow().otherShapes();
    }

    private static FloatBuffer floats(List<ByteBuffer> outputs) {
        return outputs.get(0).duplicate().order(ByteOrder.nativeOrder()).asFloatBuffer();
    }

    private static void assertNear(FloatBuffer expected, FloatBuffer actual) {
        assertEquals(expected.remaining(), actual.remaining());
        while (expected.hasRemaining()) {
            float value = expected.get();
            assertEquals(value, actual.get(), NEAR * Math.max(1, Math.abs(value)));
        }
    }
}
