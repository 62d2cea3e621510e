package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests names and order of inputs and outputs on djl-plan's TFLite engine, from a signature or from
 * the file.
 */
@Tag("djl-current")
class SignatureTest {

    private static final Form PAIR = Form.of(ElementType.FLOAT32, 1, 2);
    private static final float[] LEFT = {5, 7};
    private static final float[] RIGHT = {1, 2};
    private static final float[] DIFFERENCE = {4, 5};
    private static final float[] SUM = {6, 9};

    @TempDir Path folder;

    /**
     * Returns a model of left − right and left + right, with several signatures, one of which has
     * another graph.
     */
    private Path model() throws IOException {
        ModelSketch main = new ModelSketch();
        int left = main.input(PAIR);
        int right = main.input(PAIR);
        int difference = main.operator("SUB", options("SubOptions"), PAIR, left, right);
        int sum = main.operator("ADD", options("AddOptions"), PAIR, left, right);
        main.output(difference, sum);
        Map<String, Integer> inputs = ImmutableMap.of("right", right, "left", left);
        main.signature(
                "serving_default", inputs, ImmutableMap.of("sum", sum, "difference", difference));
        main.signature("sum_twice", inputs, ImmutableMap.of("one", sum, "two", sum));
        main.signature("half", ImmutableMap.of("left", left), ImmutableMap.of("sum", sum));
        main.signature("inner", inputs, ImmutableMap.of("left", left));
        ModelSketch other = main.subgraph("other");
        int x = other.input(PAIR);
        other.output(other.floatOperator("ABS", new int[] {1, 2}, x));
        other.signature("magnitude", ImmutableMap.of("x", x), ImmutableMap.of("y", x + 1));
        Path file = folder.resolve("sketch.tflite");
        return Files.exists(file) ? file : main.write(file);
    }

    /** Another graph of the same file, whose operators and signatures name graphs by number. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void predict_signatureOfAnotherGraph_runsThatOne(boolean planned) throws Exception {
        Path file = model();
        byte[] before = Files.readAllBytes(file);
        for (int i = 0; i < 2; i++) {
            try (ZooModel<NDList, NDList> model = load(planned, "magnitude");
                    NDManager manager = model.getNDManager().newSubManager();
                    Predictor<NDList, NDList> predictor = model.newPredictor()) {
                assertEquals(List.of("x"), model.describeInput().keys());
                NDList outputs = predictor.predict(new NDList(array(manager, null, -1, 2)));
                assertEquals(List.of("y"), names(outputs));
                assertArrayEquals(new float[] {1, 2}, outputs.get(0).toFloatArray());
            }
        }
        assertArrayEquals(before, Files.readAllBytes(file));
        assertEquals(1, copies(file).size(), "one copy for both loads");
    }

    private static List<Path> copies(Path file) throws IOException {
        try (Stream<Path> kept = Files.list(file.resolveSibling(".djlplan"))) {
            return kept.filter(each -> each.toString().endsWith(".tflite")).toList();
        }
    }

    @Test
    void load_invalidCopy_isMadeAgain() throws Exception {
        load(false, "magnitude").close();
        Path copy = copies(model()).get(0);
        byte[] whole = Files.readAllBytes(copy);
        ModelSketch other = new ModelSketch();
        other.output(other.floatOperator("NEG", new int[] {1, 2}, other.input(PAIR)));
        for (byte[] content : List.of(new byte[0], Arrays.copyOf(whole, 99), bytes(other))) {
            Files.write(copy, content);
            load(false, "magnitude").close();
            assertArrayEquals(whole, Files.readAllBytes(copy));
        }
    }

    private byte[] bytes(ModelSketch sketch) throws IOException {
        return Files.readAllBytes(sketch.write(folder.resolve("other.tflite")));
    }

    private static Optional<FlatTable> options(String table) {
        return Optional.of(FlatTable.of(table));
    }

    private ZooModel<NDList, NDList> load(boolean planned, String signature) throws Exception {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("TFLite")
                        .optModelPath(model());
        if (!signature.isEmpty()) {
            criteria.optOption("signature", signature);
        }
        if (planned) {
            criteria.optTranslatorFactory(
                    new PlannedTranslatorFactory().with("delegation.enabled", false));
        }
        ZooModel<NDList, NDList> model = criteria.build().loadModel();
        assertEquals(planned, PlanReport.of(model).map(PlanReport::planned).orElse(false));
        return model;
    }

    private static NDArray array(NDManager manager, String name, float... values) {
        NDArray array = manager.create(values).expandDims(0);
        array.setName(name);
        return array;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void predict_signature_namesAndOrdersInputsAndOutputs(boolean planned) throws Exception {
        try (ZooModel<NDList, NDList> model = load(planned, "serving_default");
                NDManager manager = model.getNDManager().newSubManager();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            assertEquals(List.of("right", "left"), model.describeInput().keys());
            assertEquals(List.of("sum", "difference"), model.describeOutput().keys());
            NDArray left = array(manager, "left", LEFT);
            NDArray right = array(manager, "right", RIGHT);
            NDArray first = array(manager, null, RIGHT);
            NDArray second = array(manager, null, LEFT);
            NDArray unknown = array(manager, "elsewhere", RIGHT);
            for (NDList inputs :
                    List.of(
                            new NDList(right, left),
                            new NDList(left, right),
                            new NDList(first, second),
                            new NDList(left, first),
                            new NDList(second, right),
                            new NDList(unknown, second))) {
                NDList outputs = predictor.predict(inputs);
                assertEquals(List.of("sum", "difference"), names(outputs));
                assertArrayEquals(SUM, outputs.get(0).toFloatArray());
                assertArrayEquals(DIFFERENCE, outputs.get(1).toFloatArray());
            }
        }
    }

    private static List<String> names(NDList list) {
        return list.stream().map(NDArray::getName).toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void predict_outputWithTwoNames_isThereTwice(boolean planned) throws Exception {
        try (ZooModel<NDList, NDList> model = load(planned, "sum_twice");
                NDManager manager = model.getNDManager().newSubManager();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            NDList outputs =
                    predictor.predict(
                            new NDList(array(manager, null, RIGHT), array(manager, null, LEFT)));
            assertEquals(List.of("one", "two"), names(outputs));
            outputs.get(0).close();
            assertArrayEquals(SUM, outputs.get(1).toFloatArray());
        }
    }

    /** Without a signature, the names are the file's names of its tensors. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void predict_noSignature_takesTheFilesNames(boolean planned) throws Exception {
        try (ZooModel<NDList, NDList> model = load(planned, "");
                NDManager manager = model.getNDManager().newSubManager();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            List<String> names = model.describeInput().keys();
            assertEquals(List.of("main0", "main1"), names);
            NDArray left = array(manager, names.get(0), LEFT);
            NDArray right = array(manager, names.get(1), RIGHT);
            NDList outputs = predictor.predict(new NDList(right, left));
            assertEquals(List.of("main2", "main3"), names(outputs));
            assertArrayEquals(DIFFERENCE, outputs.get(0).toFloatArray());
            assertArrayEquals(SUM, outputs.get(1).toFloatArray());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "absent | signature=absent: the model has [serving_default, sum_twice, half,"
                        + " inner, magnitude]",
                "half | signature=half: it names 1 of 2 inputs",
                "inner | signature=inner: left is no input or output of the model",
            })
    void load_signatureThatCannotBeRun_saysWhy(String signature, String problem) {
        Exception e =
                assertThrows(IllegalArgumentException.class, () -> load(false, signature).close());
        assertTrue(e.getMessage().startsWith(problem), e::getMessage);
    }

    @Test
    void load_modelWithoutSignatures_failsWithMessage() throws Exception {
        ModelSketch sketch = new ModelSketch();
        sketch.output(sketch.floatOperator("ABS", new int[] {1, 2}, sketch.input(PAIR)));
        Path file = sketch.write(folder.resolve("plain.tflite"));
        try (Model model = Model.newInstance("plain", "TFLite")) {
            Exception e =
                    assertThrows(
                            IllegalArgumentException.class,
                            () -> model.load(file, null, Map.of("signature", "serving_default")));
            assertTrue(e.getMessage().endsWith("the model has []"), e::getMessage);
        }
    }
}
