package org.djlplan.integration.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.IntegerDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a topology in Kafka's test driver, which needs no broker. */
@Tag("pipelines")
class KafkaStreamsRouteTest {

    private static final int IMAGES = 24;

    @TempDir static Path folder;

    private static String file;

    @BeforeAll
    static void makeModel() throws IOException {
        Path model = folder.resolve("mobilenet_v2.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), model);
        file = model.toString();
        System.setProperty("djlplan.delegation.enabled", "false");
    }

    private static byte[] image(int seed) {
        byte[] image = new byte[224 * 224 * 3];
        new Random(seed).nextBytes(image);
        return image;
    }

    private static List<byte[]> images() {
        return IntStream.range(0, IMAGES).mapToObj(KafkaStreamsRouteTest::image).toList();
    }

    /** Returns the classes of the images by a single predictor. */
    private static List<Integer> expected() throws Exception {
        Criteria<byte[], Integer> criteria =
                Criteria.builder()
                        .setTypes(byte[].class, Integer.class)
                        .optEngine("TFLite")
                        .optModelPath(Path.of(file))
                        .optTranslator(new BestClassTranslator())
                        .build();
        List<Integer> classes = new ArrayList<>();
        try (ZooModel<byte[], Integer> stock = criteria.loadModel();
                Predictor<byte[], Integer> predictor = stock.newPredictor()) {
            for (byte[] image : images()) {
                classes.add(predictor.predict(image));
            }
        }
        return classes;
    }

    private static void assertPlanned(ZooModel<?, ?> model) {
        PlanReport report = PlanReport.of(model).orElseThrow();
        assertTrue(report.planned(), report::toString);
        assertEquals(IMAGES, report.predictions().total());
        assertEquals(0, report.predictions().unplanned());
    }

    private static void assertGivenBack(ZooModel<?, ?> model) {
        model.close();
        PlannedModels.closeUnused(Thread.currentThread().getContextClassLoader());
        assertFalse(model.getNDManager().isOpen(), "somebody has not given it back");
    }

    private static StreamsBuilder topology() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("images", Consumed.with(Serdes.String(), Serdes.ByteArray()))
                .processValues(() -> new ClassifyImages(file))
                .to("classes", Produced.with(Serdes.String(), Serdes.Integer()));
        return builder;
    }

    @Test
    void processValues_classOfEachImage_plannedAndGivenBack() throws Exception {
        List<Integer> expected = expected();
        ZooModel<byte[], Integer> model = SharedClassifier.model(file);
        try (TopologyTestDriver driver = new TopologyTestDriver(topology().build())) {
            TestInputTopic<String, byte[]> images =
                    driver.createInputTopic(
                            "images", new StringSerializer(), new ByteArraySerializer());
            TestOutputTopic<String, Integer> classes =
                    driver.createOutputTopic(
                            "classes", new StringDeserializer(), new IntegerDeserializer());

            images().forEach(image -> images.pipeInput("camera", image));

            assertEquals(expected, classes.readValuesToList());
        }
        assertPlanned(model);
        assertGivenBack(model);
    }
}
