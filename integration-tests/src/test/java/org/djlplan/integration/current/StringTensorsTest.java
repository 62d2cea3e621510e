package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests string inputs and outputs on djl-plan's TFLite engine. They have no plan, because their
 * sizes are unknown until run time.
 */
@Tag("djl-current")
class StringTensorsTest {

    private static final String[] WORDS = {"memory", "", "grün", "a longer one, with a \0 in it"};
    private static final Form FOUR = Form.of(ElementType.STRING, 4);

    @TempDir Path folder;

    private ZooModel<NDList, NDList> load(ModelSketch sketch, boolean planned) throws Exception {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("TFLite")
                        .optModelPath(sketch.write(folder.resolve("sketch.tflite")));
        if (planned) {
            criteria.optTranslatorFactory(new PlannedTranslatorFactory());
        }
        ZooModel<NDList, NDList> model = criteria.build().loadModel();
        assertTrue(PlanReport.of(model).filter(PlanReport::planned).isEmpty());
        return model;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void predict_strings_passThrough(boolean planned) throws Exception {
        ModelSketch sketch = new ModelSketch();
        Form square = Form.of(ElementType.STRING, 2, 2);
        sketch.output(sketch.reshape(sketch.input(FOUR), square));
        try (ZooModel<NDList, NDList> model = load(sketch, planned);
                NDManager manager = model.getNDManager().newSubManager();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (String[] words : new String[][] {WORDS, {"1", "2", "3", "4"}, WORDS}) {
                NDArray output = predictor.predict(new NDList(manager.create(words))).head();
                assertEquals(DataType.STRING, output.getDataType());
                assertEquals(new Shape(2, 2), output.getShape());
                assertArrayEquals(words, output.toStringArray());
            }
        }
    }

    /** The model has strings in its file, and gets another number of strings in each prediction. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void predict_numberOfStringsVaries_eachIsCompared(boolean planned) throws Exception {
        ModelSketch sketch = new ModelSketch();
        int wanted = sketch.constant(Form.of(ElementType.STRING, 1), packed("grün"));
        Form answers = Form.of(ElementType.BOOL, 4);
        Optional<FlatTable> options = Optional.of(FlatTable.of("EqualOptions"));
        sketch.output(sketch.operator("EQUAL", options, answers, sketch.input(FOUR), wanted));
        try (ZooModel<NDList, NDList> model = load(sketch, planned);
                NDManager manager = model.getNDManager().newSubManager();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (String[] words : new String[][] {WORDS, {"grün", "rot"}, {"grün"}, WORDS}) {
                NDArray output = predictor.predict(new NDList(manager.create(words))).head();
                boolean[] expected = new boolean[words.length];
                for (int i = 0; i < words.length; i++) {
                    expected[i] = words[i].equals("grün");
                }
                assertArrayEquals(expected, output.toBooleanArray());
            }
        }
    }

    private static ByteBuffer packed(String only) {
        byte[] bytes = only.getBytes(StandardCharsets.UTF_8);
        ByteBuffer packed =
                ByteBuffer.allocate(3 * Integer.BYTES + bytes.length)
                        .order(ByteOrder.LITTLE_ENDIAN);
        packed.putInt(1).putInt(3 * Integer.BYTES).putInt(packed.capacity());
        return packed.put(bytes).rewind();
    }

    @Test
    void predict_stringsOfAnotherEngine_areTaken() throws Exception {
        ModelSketch sketch = new ModelSketch();
        int index = sketch.ints(3, 1);
        Optional<FlatTable> options = Optional.of(FlatTable.of("GatherOptions"));
        Form two = Form.of(ElementType.STRING, 2);
        sketch.output(sketch.operator("GATHER", options, two, sketch.input(FOUR), index));
        try (ZooModel<NDList, NDList> model = load(sketch, false);
                NDManager other = NDManager.newBaseManager("PyTorch");
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            NDArray words = other.create(WORDS, StandardCharsets.UTF_8, new Shape(4));
            for (int i = 0; i < 10; i++) {
                NDArray output = predictor.predict(new NDList(words)).head();
                assertArrayEquals(new String[] {WORDS[3], WORDS[1]}, output.toStringArray());
                output.close();
            }
            assertEquals(List.of(), model.getNDManager().getManagedArrays());
        }
    }

    @Test
    void predict_noStrings_isRefused() throws Exception {
        ModelSketch sketch = new ModelSketch();
        sketch.output(sketch.reshape(sketch.input(FOUR), FOUR));
        try (ZooModel<NDList, NDList> model = load(sketch, false);
                NDManager manager = model.getNDManager().newSubManager();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            NDList numbers = new NDList(manager.create(new int[] {4, 24, 1 << 30, 0}));
            Exception e = assertThrows(TranslateException.class, () -> predictor.predict(numbers));
            assertTrue(e.getCause().getMessage().contains("STRING"), e::toString);
        }
    }

    @Test
    void array_ofStrings_isReadAndReshapedOnly() throws Exception {
        try (NDManager manager = NDManager.newBaseManager("TFLite")) {
            NDArray words = manager.create(WORDS, new Shape(2, 2));
            assertArrayEquals(WORDS, words.reshape(4).duplicate().toStringArray());
            assertArrayEquals(new String[] {"one"}, manager.create("one").toStringArray());
            byte[] utf16 = "grün".getBytes(StandardCharsets.UTF_16BE);
            NDArray wide =
                    manager.create(new String[] {"grün"}, StandardCharsets.UTF_16BE, new Shape(1));
            assertEquals(
                    new String(utf16, StandardCharsets.ISO_8859_1),
                    wide.toStringArray(StandardCharsets.ISO_8859_1)[0]);
            assertTrue(words.toByteBuffer().isReadOnly());
            assertTrue(words.toString().contains("memory"), words::toString);
            assertThrows(IllegalArgumentException.class, () -> manager.create(WORDS, new Shape(3)));
            assertThrows(UnsupportedOperationException.class, words::transpose);
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> manager.zeros(new Shape(1), DataType.STRING));
            assertThrows(
                    UnsupportedOperationException.class, () -> words.set(new NDIndex("0"), words));
        }
    }
}
