package org.djlplan.integration.camel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelZoo;
import ai.djl.repository.zoo.ZooModel;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.impl.DefaultCamelContext;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Camel makes a predictor for each exchange; several threads send at once. */
@Tag("pipelines")
class CamelRouteTest {

    private static final int EXCHANGES = 24;

    @TempDir static Path folder;

    @BeforeAll
    static void makeModel() throws IOException {
        Path model = Files.createDirectory(folder.resolve("classifier"));
        TfLiteWriter.write(MobileNetV2.build(1), model.resolve("classifier.tflite"));
        // Read when DJL looks for its zoos.
        System.setProperty(
                "ai.djl.repository.zoo.location",
                model.toUri()
                        + "?artifact_id=classifier&engine=TFLite&translatorFactory="
                        + PlannedTranslatorFactory.class.getName()
                        + "&memplan.translatorFactory="
                        + LabelsFactory.class.getName()
                        + "&delegation.enabled=false");
        // Before criteria with a path: with a location DJL fails if those come first.
        assertTrue(ModelZoo.hasModelZoo("ai.djl.localmodelzoo"));
    }

    private static ZooModel<Image, Classifications> load() throws Exception {
        return Criteria.builder()
                .setTypes(Image.class, Classifications.class)
                .optEngine("TFLite")
                .optModelPath(folder.resolve("classifier"))
                .optArgument("delegation.enabled", "false")
                .optTranslatorFactory(PlannedTranslatorFactory.wrap(LabelsFactory.translator()))
                .build()
                .loadModel();
    }

    private static byte[] image(int seed) throws IOException {
        BufferedImage image = new BufferedImage(60, 40, BufferedImage.TYPE_INT_RGB);
        Random random = new Random(seed);
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                image.setRGB(x, y, random.nextInt());
            }
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ImageIO.write(image, "png", bytes);
        return bytes.toByteArray();
    }

    /** Returns what a predictor says of the images, without a route. */
    private static List<String> expected() throws Exception {
        try (ZooModel<Image, Classifications> model = load();
                Predictor<Image, Classifications> predictor = model.newPredictor()) {
            return IntStream.range(0, EXCHANGES)
                    .mapToObj(
                            seed -> {
                                try {
                                    Image image =
                                            ImageFactory.getInstance()
                                                    .fromInputStream(
                                                            new ByteArrayInputStream(image(seed)));
                                    return predictor.predict(image).toString();
                                } catch (Exception e) {
                                    throw new IllegalStateException(e);
                                }
                            })
                    .toList();
        }
    }

    private static List<String> answers(ProducerTemplate template, String route) {
        return IntStream.range(0, EXCHANGES)
                .parallel()
                .mapToObj(
                        seed -> {
                            try {
                                return template.requestBody(route, image(seed)).toString();
                            } catch (IOException e) {
                                throw new IllegalStateException(e);
                            }
                        })
                .toList();
    }

    private static void assertPlanned(Model model) {
        PlanReport report = PlanReport.of(model).orElseThrow();
        assertTrue(report.planned(), report::toString);
        assertEquals(EXCHANGES, report.predictions().total());
        assertEquals(0, report.predictions().unplanned());
    }

    @Test
    void boundModel_aPredictorForEachExchange_planned() throws Exception {
        List<String> expected = expected();
        try (ZooModel<Image, Classifications> model = load()) {
            try (DefaultCamelContext camel = new DefaultCamelContext()) {
                camel.getRegistry().bind("classifier", model);
                camel.getRegistry().bind("labels", LabelsFactory.translator());
                camel.addRoutes(new ClassifyRoutes());
                camel.start();

                assertEquals(expected, answers(camel.createProducerTemplate(), "direct:bound"));
            }
            assertPlanned(model);
            assertTrue(model.getNDManager().isOpen(), "it is the application's");
        }
    }

    @Test
    void zooLocation_withoutCode_planned() throws Exception {
        List<String> expected = expected();
        try (DefaultCamelContext camel = new DefaultCamelContext();
                ZooModel<Image, Classifications> model = load()) {
            camel.getRegistry().bind("classifier", model);
            camel.getRegistry().bind("labels", LabelsFactory.translator());
            camel.addRoutes(new ClassifyRoutes());
            camel.start();

            assertEquals(expected, answers(camel.createProducerTemplate(), "direct:zoo"));

            assertPlanned(LabelsFactory.loaded);
        }
    }
}
