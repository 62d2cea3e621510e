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
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.impl.DefaultCamelContext;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.report.PlanReport.Predictions;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.memplan.testing.TestImage;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;

/**
 * Base of the route tests: Camel makes a predictor for each exchange, and several threads send at
 * once. Outputs must equal those of stock predictors, bit by bit.
 */
@Tag("pipelines")
@TestInstance(Lifecycle.PER_CLASS)
abstract class RouteTests {

    private static final int EXCHANGES = 24;
    private static final int RESTARTS = 50;

    /**
     * Allows for code that the JVM compiles, but is less than an interpreter of 5 MB for each
     * start.
     */
    private static final long MOST_GROWN_BYTES = 100_000_000;

    private final String engine;
    private final Map<String, String> arguments;
    private final Map<String, String> options;
    private Path folder;

    /**
     * @param arguments DJL's own arguments
     * @param options options of djl-plan
     */
    RouteTests(String engine, Map<String, String> arguments, Map<String, String> options) {
        this.engine = engine;
        this.arguments = arguments;
        this.options = options;
    }

    /** Writes a model with the name {@code classifier}. */
    abstract void write(Path folder) throws IOException;

    @BeforeAll
    void makeModel(@TempDir Path parent) throws IOException {
        folder = Files.createDirectory(parent.resolve("classifier"));
        write(folder);
        Map<String, String> query = new HashMap<>(arguments);
        query.putAll(options);
        query.put("artifact_id", "classifier");
        query.put("engine", engine);
        query.put("translatorFactory", PlannedTranslatorFactory.class.getName());
        query.put("memplan.translatorFactory", LabelsFactory.class.getName());
        // DJL reads this when it looks for its zoos.
        System.setProperty(
                "ai.djl.repository.zoo.location",
                folder.toUri()
                        + query.entrySet().stream()
                                .map(each -> each.getKey() + "=" + each.getValue())
                                .collect(Collectors.joining("&", "?", ""))
                                .replace(",", "%2C"));
        // This must come before criteria with a path: if a location is set and those come first,
        // DJL fails.
        assertTrue(ModelZoo.hasModelZoo("ai.djl.localmodelzoo"));
    }

    private Criteria.Builder<Image, Classifications> criteria() {
        Criteria.Builder<Image, Classifications> criteria =
                Criteria.builder()
                        .setTypes(Image.class, Classifications.class)
                        .optEngine(engine)
                        .optModelPath(folder)
                        .optModelName("classifier");
        arguments.forEach(criteria::optArgument);
        return criteria;
    }

    private ZooModel<Image, Classifications> load() throws Exception {
        Criteria.Builder<Image, Classifications> criteria = criteria();
        options.forEach(criteria::optArgument);
        return criteria.optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(LabelsFactory.translator(engine)))
                .build()
                .loadModel();
    }

    /** Returns a stock predictor's probabilities for the images. */
    private List<List<Double>> expected() throws Exception {
        List<List<Double>> expected = new ArrayList<>();
        try (ZooModel<Image, Classifications> stock =
                        criteria()
                                .optTranslator(LabelsFactory.translator(engine))
                                .build()
                                .loadModel();
                Predictor<Image, Classifications> predictor = stock.newPredictor()) {
            for (int seed = 0; seed < EXCHANGES; seed++) {
                Image image =
                        ImageFactory.getInstance()
                                .fromInputStream(new ByteArrayInputStream(TestImage.png(seed)));
                expected.add(predictor.predict(image).getProbabilities());
            }
        }
        return expected;
    }

    private static List<List<Double>> answers(ProducerTemplate template, String route) {
        return IntStream.range(0, EXCHANGES)
                .parallel()
                .mapToObj(
                        seed -> {
                            try {
                                return template.requestBody(
                                                route, TestImage.png(seed), Classifications.class)
                                        .getProbabilities();
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        })
                .toList();
    }

    /** Asserts that exchanges of a route are planned, and answered as by stock predictors. */
    private static void assertPlanned(
            List<List<Double>> expected, DefaultCamelContext camel, String route, Model model) {
        Predictions before = predictions(model);
        assertEquals(expected, answers(camel.createProducerTemplate(), route));
        Predictions after = predictions(model);
        assertEquals(EXCHANGES, after.total() - before.total());
        assertEquals(before.unplanned(), after.unplanned());
    }

    private static Predictions predictions(Model model) {
        PlanReport report = PlanReport.of(model).orElseThrow();
        assertTrue(report.planned(), report::toString);
        return report.predictions();
    }

    /** Both routes need the objects that they name. */
    private DefaultCamelContext start(ZooModel<Image, Classifications> model) throws Exception {
        DefaultCamelContext camel = new DefaultCamelContext();
        camel.getRegistry().bind("classifier", model);
        camel.getRegistry().bind("labels", LabelsFactory.translator(engine));
        camel.addRoutes(new ClassifyRoutes());
        camel.start();
        return camel;
    }

    @Test
    void boundModel_aPredictorForEachExchange_planned() throws Exception {
        List<List<Double>> expected = expected();
        try (ZooModel<Image, Classifications> model = load()) {
            try (DefaultCamelContext camel = start(model)) {
                assertPlanned(expected, camel, "direct:bound", model);
            }
            assertTrue(model.getNDManager().isOpen(), "it is the application's");
        }
    }

    @Test
    void zooLocation_withoutCode_planned() throws Exception {
        List<List<Double>> expected = expected();
        try (ZooModel<Image, Classifications> model = load();
                DefaultCamelContext camel = start(model)) {
            assertPlanned(expected, camel, "direct:zoo", LabelsFactory.loaded);
        }
    }

    /** The resources that a route leaves behind after a start. */
    private record Left(PoolReport.Arenas arenas, PoolReport.Workspaces workspaces, long bytes) {

        static Left now() throws IOException {
            System.gc();
            String pages = Files.readString(Path.of("/proc/self/statm")).split(" ", -1)[1];
            PoolReport pools = PlannedModels.pools();
            return new Left(pools.arenas(), pools.workspaces(), Long.parseLong(pages) * 4096);
        }
    }

    private static void restart(DefaultCamelContext camel, String route, int times)
            throws Exception {
        String id =
                camel.getRoutes().stream()
                        .filter(each -> each.getEndpoint() == camel.hasEndpoint(route))
                        .findFirst()
                        .orElseThrow()
                        .getRouteId();
        ProducerTemplate template = camel.createProducerTemplate();
        for (int i = 0; i < times; i++) {
            camel.getRouteController().stopRoute(id);
            camel.getRouteController().startRoute(id);
            template.requestBody(route, TestImage.png(i), Classifications.class);
        }
    }

    @Test
    void boundModel_routeStoppedAndStartedOften_nothingGrows() throws Exception {
        List<List<Double>> expected = expected();
        try (ZooModel<Image, Classifications> model = load();
                DefaultCamelContext camel = start(model)) {
            restart(camel, "direct:bound", RESTARTS / 5);
            Left before = Left.now();
            restart(camel, "direct:bound", RESTARTS);
            Left after = Left.now();
            assertEquals(before.arenas(), after.arenas());
            assertEquals(before.workspaces(), after.workspaces());
            long grown = after.bytes() - before.bytes();
            assertTrue(grown < MOST_GROWN_BYTES, () -> grown + " bytes more");
            assertPlanned(expected, camel, "direct:bound", model);
        }
    }
}
