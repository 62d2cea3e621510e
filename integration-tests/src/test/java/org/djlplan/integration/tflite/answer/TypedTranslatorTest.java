package org.djlplan.integration.tflite.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.modality.cv.translator.ImageClassificationTranslator;
import ai.djl.modality.cv.translator.ImageClassificationTranslatorFactory;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import ai.djl.translate.TranslatorFactory;
import java.awt.image.BufferedImage;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests translators between users' types and arrays. DJL's translators, with PyTorch for array
 * operations, give the same results as without djl-plan.
 */
class TypedTranslatorTest {

    private static final int CLASSES = 1001;
    private static final int IMAGES = 3;

    @TempDir static Path folder;

    @BeforeAll
    static void writeClassifier() throws Exception {
        assertTrue(Engine.hasEngine("PyTorch"));
        Files.copy(TestModels.built("mobilenet_v2"), folder.resolve("classifier.tflite"));
        Files.writeString(
                folder.resolve("synset.txt"),
                IntStream.range(0, CLASSES)
                        .mapToObj(i -> "class " + i)
                        .collect(Collectors.joining("\n")));
    }

    /** Moves the channels last for the model, because DJL's translators put them first. */
    private static final class ChannelsLast extends ImageClassificationTranslatorFactory {

        private static final long serialVersionUID = 1L;

        @Override
        protected Translator<Image, Classifications> buildBaseTranslator(
                Model model, Map<String, ?> arguments) {
            return ImageClassificationTranslator.builder(arguments)
                    .addTransform(image -> image.transpose(1, 2, 0))
                    .build();
        }
    }

    private static Image image(long seed) {
        Random random = new Random(seed);
        BufferedImage pixels = new BufferedImage(300, 200, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < pixels.getHeight(); y++) {
            for (int x = 0; x < pixels.getWidth(); x++) {
                pixels.setRGB(x, y, random.nextInt());
            }
        }
        return ImageFactory.getInstance().fromImage(pixels);
    }

    private static ZooModel<Image, Classifications> classifier(TranslatorFactory factory)
            throws Exception {
        return Criteria.builder()
                .setTypes(Image.class, Classifications.class)
                .optModelPath(folder)
                .optModelName("classifier")
                .optEngine("TFLite")
                .optTranslatorFactory(factory)
                .optArgument("delegation.enabled", "false")
                .optArgument("width", 224)
                .optArgument("height", 224)
                .optArgument("resize", true)
                .build()
                .loadModel();
    }

    /** Returns class names and probabilities of some images, in the order of the classes. */
    private static List<List<?>> classify(ZooModel<Image, Classifications> model) throws Exception {
        try (Predictor<Image, Classifications> predictor = model.newPredictor()) {
            List<List<?>> results = new ArrayList<>();
            for (int seed = 0; seed < IMAGES; seed++) {
                Classifications result = predictor.predict(image(seed));
                results.add(List.of(result.getClassNames(), result.getProbabilities()));
            }
            return results;
        }
    }

    @Test
    void predict_imageClassification_givesTheProbabilitiesOfStock() throws Exception {
        List<List<?>> expected;
        try (ZooModel<Image, Classifications> stock = classifier(new ChannelsLast())) {
            expected = classify(stock);
        }
        assertEquals(IMAGES, expected.stream().distinct().count());
        try (ZooModel<Image, Classifications> planned =
                classifier(PlannedTranslatorFactory.wrap(new ChannelsLast()))) {
            assertEquals(expected, classify(planned));
            PlanReport report = PlanReport.of(planned).orElseThrow();
            assertEquals(IMAGES, report.predictions().total());
            assertEquals(0, report.predictions().unplanned());
        }
    }

    /** Creates the input and sums the output with array operations. */
    private static final class Summing implements Translator<Float, Float> {

        @Override
        public NDList processInput(TranslatorContext context, Float input) {
            NDArray image = context.getNDManager().create(new Shape(128, 128, 3));
            return new NDList(image.add(input));
        }

        @Override
        public Float processOutput(TranslatorContext context, NDList list) {
            return list.head().sum().getFloat();
        }
    }

    private static Float predict(Criteria.Builder<Float, Float> criteria) throws Exception {
        try (ZooModel<Float, Float> model = criteria.build().loadModel();
                Predictor<Float, Float> predictor = model.newPredictor()) {
            return predictor.predict(0.5f);
        }
    }

    private static Criteria.Builder<Float, Float> numbers() {
        return Criteria.builder()
                .setTypes(Float.class, Float.class)
                .optArgument("delegation.enabled", "false")
                .optModelPath(TestModels.built("blaze_face"))
                .optEngine("TFLite");
    }

    @Test
    void predict_wrappedTranslator_givesTheResultOfStock() throws Exception {
        Float expected = predict(numbers().optTranslator(new Summing()));
        assertEquals(
                expected,
                predict(
                        numbers()
                                .optTranslatorFactory(
                                        PlannedTranslatorFactory.wrap(new Summing()))));
    }

    @Test
    void wrap_planned_isThatOne() {
        PlannedTranslatorFactory once = PlannedTranslatorFactory.wrap(new Summing());
        assertEquals(once, PlannedTranslatorFactory.wrap(once));
    }

    @Test
    void inputs_ofTheHybridEngine_areReadAsTheyAre() throws Exception {
        Path file = TestModels.built("blaze_face");
        try (StockInterpreter stock = new StockInterpreter(file, -1);
                ZooModel<NDList, NDList> model = Planned.load(file, Map.of());
                NDManager torch = NDManager.newBaseManager("PyTorch");
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            List<ByteBuffer> inputs = stock.randomInputs(4);
            assertEquals(
                    stock.run(inputs), Planned.predict(predictor, torch, inputs, stock.shapes()));
        }
    }
}
