package com.example.plain;

import ai.djl.inference.Predictor;
import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.modality.cv.translator.ImageClassificationTranslator;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Translator;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;

/**
 * Classifies images with a MobileNet in a file, and prints what djl-plan did. {@code -Dtop=5}
 * prints the five most probable classes of each image.
 */
public final class Classify {

    private static final int TOP = Integer.getInteger("top", 1);

    private Classify() {}

    /** Arguments: the file of the model, and the files of images. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 2) {
            System.err.println("usage: java -jar target/plain.jar MODEL.tflite IMAGE...");
            System.exit(2);
        }
        List<String> images = Arrays.asList(arguments).subList(1, arguments.length);
        Criteria<Image, Classifications> criteria =
                Criteria.builder()
                        .setTypes(Image.class, Classifications.class)
                        .optEngine("TFLite")
                        .optModelPath(Path.of(arguments[0]))
                        // djl-plan's line. DJL's own would be .optTranslator(translator()).
                        // A program that ends after some images waits for the measurement, which
                        // a service makes in the background.
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(translator())
                                        .with("delegation.profile", "blocking"))
                        .build();
        try (ZooModel<Image, Classifications> model = criteria.loadModel();
                Predictor<Image, Classifications> predictor = model.newPredictor()) {
            for (String file : images) {
                Image image = ImageFactory.getInstance().fromFile(Path.of(file));
                List<Classifications.Classification> best = predictor.predict(image).topK(TOP);
                System.out.println(file + ": " + printed(best));
            }
            System.out.println(PlanReport.of(model).map(PlanReport::toString).orElse("stock"));
        }
    }

    private static String printed(List<Classifications.Classification> classes) {
        return classes.stream()
                .map(each -> each.getClassName() + " (" + each.getProbability() + ")")
                .collect(Collectors.joining(", "));
    }

    /** MobileNets take 224 × 224 pixels from -1 to 1, and know 1001 classes. */
    private static Translator<Image, Classifications> translator() {
        float[] half = {.5f, .5f, .5f};
        return ImageClassificationTranslator.builder()
                .setPipeline(
                        new Pipeline(
                                new Resize(224, 224),
                                new ToTensor(),
                                new Normalize(half, half),
                                array -> array.transpose(1, 2, 0)))
                .optSynset(IntStream.range(0, 1001).mapToObj(i -> "class " + i).toList())
                .build();
    }
}
