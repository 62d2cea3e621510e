package org.djlplan.integration.tflite.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.Pair;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.tflite.TfLiteTests;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.Test;

/**
 * Tests the name of the wrapped factory in a URL: a translator factory is used; any other name
 * causes an error with the reason.
 */
class InnerFactoryTest implements TfLiteTests {

    private static final Path FILE = TestModels.built("blaze_face");
    private static final String FACTORY = "org.djlplan.memplan.PlannedTranslatorFactory";

    private static ZooModel<NDList, NDList> load(String url) throws Exception {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine("TFLite")
                .optModelUrls(url)
                .build()
                .loadModel();
    }

    /** Makes the input from a number, and returns the first number of the first output. */
    public static final class FirstNumber
            implements TranslatorFactory, NoBatchifyTranslator<Float, Float> {

        @Override
        public Set<Pair<Type, Type>> getSupportedTypes() {
            return Set.of(new Pair<>(Float.class, Float.class));
        }

        @Override
        @SuppressWarnings("unchecked") // the only types that are supported
        public <I, O> Translator<I, O> newInstance(
                Class<I> input, Class<O> output, Model model, Map<String, ?> arguments) {
            assertTrue(arguments.containsKey("memplan.translatorFactory"));
            return (Translator<I, O>) this;
        }

        @Override
        public NDList processInput(TranslatorContext context, Float input) {
            Shape shape = context.getModel().describeInput().valueAt(0);
            return new NDList(context.getNDManager().create(filled(shape, input), shape));
        }

        private static float[] filled(Shape shape, float value) {
            float[] values = new float[Math.toIntExact(shape.size())];
            Arrays.fill(values, value);
            return values;
        }

        @Override
        public Float processOutput(TranslatorContext context, NDList list) {
            return list.head().toFloatArray()[0];
        }
    }

    @Test
    void load_innerFactoryNamed_translatesWithIt() throws Exception {
        String url =
                FILE.toUri()
                        + ("?translatorFactory=" + FACTORY)
                        + ("&memplan.translatorFactory=" + FirstNumber.class.getName());
        try (ZooModel<Float, Float> model =
                        Criteria.builder()
                                .setTypes(Float.class, Float.class)
                                .optModelUrls(url)
                                .optEngine("TFLite")
                                .build()
                                .loadModel();
                StockInterpreter stock = new StockInterpreter(FILE, -1);
                Predictor<Float, Float> predictor = model.newPredictor()) {
            ByteBuffer input = stock.randomInputs(1).get(0);
            while (input.hasRemaining()) {
                input.putFloat(0.25f);
            }
            float expected = stock.run(List.of(input.rewind())).get(0).getFloat(0);
            assertEquals(expected, predictor.predict(0.25f), 1e-4);
            assertTrue(PlanReport.of(model).orElseThrow().planned());
        }
    }

    private static void assertFails(String query, String... parts) {
        Exception e =
                assertThrows(
                        Exception.class,
                        () -> load(FILE.toUri() + "?translatorFactory=" + FACTORY + query).close());
        String message = Throwables.getCausalChain(e).toString();
        for (String part : parts) {
            assertTrue(message.contains(part), message);
        }
    }

    @Test
    void load_innerClassMissing_namesIt() {
        assertFails("&memplan.translatorFactory=org.example.Missing", "org.example.Missing");
    }

    @Test
    void load_innerClassOfAnotherKind_namesIt() {
        assertFails(
                "&memplan.translatorFactory=java.lang.String",
                "memplan.translatorFactory=java.lang.String",
                "not a TranslatorFactory");
    }

    @Test
    void load_innerFactoryIsOuterOne_failsWithMessage() {
        assertFails("&memplan.translatorFactory=" + FACTORY, FACTORY, "itself");
    }

    @Test
    void load_innerFactoryOfOtherTypes_failsWithMessage() {
        assertFails(
                "&memplan.translatorFactory=" + FirstNumber.class.getName(),
                FirstNumber.class.getName(),
                "NDList");
    }

    /** Fails after the model was planned. */
    public static final class Failing implements TranslatorFactory {

        @Override
        public Set<Pair<Type, Type>> getSupportedTypes() {
            return Set.of(new Pair<>(NDList.class, NDList.class));
        }

        @Override
        public <I, O> Translator<I, O> newInstance(
                Class<I> input, Class<O> output, Model model, Map<String, ?> arguments) {
            throw new IllegalArgumentException("no synset.txt");
        }
    }

    @Test
    void load_innerFactoryFails_frees() {
        assertFails("&memplan.translatorFactory=" + Failing.class.getName(), "no synset.txt");
    }

    @Test
    void load_misspeltKeyInQuery_namesTheNearest() {
        assertFails("&memplan.wokers=1", "memplan.wokers", "memplan.workers");
    }
}
