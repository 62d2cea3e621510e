package org.djlplan.integration.current;

import static org.djlplan.integration.current.PlaceholderModel.expected;
import static org.djlplan.integration.current.PlaceholderModel.values;
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
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.RealModels;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests models whose file has placeholder shapes with which the engine cannot allocate tensors. */
@Tag("djl-current")
class PlaceholderTest {

    private static final ImmutableList<Integer> LENGTHS = ImmutableList.of(3, 8, 5, 13, 4);

    @TempDir Path folder;

    private static ZooModel<NDList, NDList> load(Path file, boolean planned) throws Exception {
        return planned
                ? Planned.loadDirectly(file, Map.of("memplan.threads", 1))
                : Planned.loadPlain(file, 1);
    }

    private static void assertPredicts(PlaceholderModel each, Path file, boolean planned)
            throws Exception {
        try (ZooModel<NDList, NDList> model = load(file, planned)) {
            for (Shape shape : model.describeInput().values()) {
                assertTrue(Arrays.stream(shape.getShape()).anyMatch(d -> d == -1), "" + shape);
            }
            for (int round = 0; round < 2; round++) {
                for (int length : LENGTHS) {
                    List<List<Integer>> shapes = each.shapes(length);
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
    @EnumSource(PlaceholderModel.class)
    void predict_plannedAndPlain_givesTheBytesOfAnEngineThatWasResizedFirst(PlaceholderModel each)
            throws Exception {
        Path file = each.write(folder);
        assertPredicts(each, file, true);
        assertPredicts(each, file, false);
    }

    private static TranslateException refusal(ZooModel<NDList, NDList> model, List<Integer> shape) {
        List<List<Integer>> shapes = List.of(shape);
        return assertThrows(
                TranslateException.class, () -> Planned.predict(model, values(shapes), shapes));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void predict_shapeThatCannotWork_isAnErrorOfThatPrediction(boolean planned) throws Exception {
        Path file = PlaceholderModel.ROWS.write(folder);
        try (ZooModel<NDList, NDList> model = load(file, planned)) {
            for (int round = 0; round < 2; round++) {
                for (List<Integer> bad : List.of(List.of(1, 7), List.of(1, 1))) {
                    TranslateException refused = refusal(model, bad);
                    assertInstanceOf(IllegalStateException.class, refused.getCause());
                    assertTrue(refused.toString().contains("TensorFlow Lite"), "" + refused);
                }
                TranslateException wrongRank = refusal(model, List.of(2, 2, 3));
                assertTrue(wrongRank.toString().contains("[1, -1]"), "" + wrongRank);
                List<List<Integer>> good = PlaceholderModel.ROWS.shapes(3 + round);
                assertEquals(expected(file, good), Planned.predict(model, values(good), good));
            }
        }
    }

    /** Only the first prediction shows that sizes are unknown before the model runs. */
    @Test
    void predict_sizesKnownOnlyAtRunTime_runsInTheEnginesBlock() throws Exception {
        ModelSketch sketch = new ModelSketch();
        int x = PlaceholderModel.open(sketch, 1, -1);
        int rows = PlaceholderModel.rows(sketch, x);
        int size =
                sketch.operator(
                        "CAST",
                        Optional.of(FlatTable.of("CastOptions").with("out_data_type", 2)),
                        Form.of(ElementType.INT32, 2),
                        sketch.input(ElementType.FLOAT32, 2));
        int filled =
                sketch.floatOperator(
                        "FILL", new int[] {1, 1}, size, sketch.floats(new int[] {}, 1.5f));
        sketch.output(filled, PlaceholderModel.relu(sketch, rows));
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

    @Test
    @NeedsModels(RealModels.OPEN_SHAPES)
    void predict_spectrogram_givesTheBytesOfAnEngineThatWasResizedFirst() throws Exception {
        Path file = RealModels.OPEN_SHAPES.file("melspectrogram");
        try (ZooModel<NDList, NDList> model = load(file, true)) {
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
}
