package org.djlplan.integration.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.Gson;
import com.sun.jna.Native;
import java.net.URI;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.commons.compress.archivers.ArchiveStreamFactory;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.AsyncDataStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.delegation.internal.MeasuredDelegation;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests a TensorFlow Lite classifier in jobs with thin and with fat jars. */
class FlinkRouteTest extends JobTests {

    private static final String STORED = "planned, 0 unplanned, delegated, STORED";

    /** Less memory than five copies of the model would take. */
    private static final long MOST_GROWTH_BYTES = 64 << 20;

    private static Map<Long, Integer> expected;
    private static Path thin;

    @BeforeAll
    static void start() throws Exception {
        TfLiteWriter.write(MobileNetV2.build(1), model.resolve("mobilenet_v2.tflite"));
        expected = measure();
        thin = thin().writeTo(folder.resolve("thin.jar"));
    }

    /**
     * Measures the delegation, which is stored beside the model, and returns the class of each row.
     */
    private static Map<Long, Integer> measure() throws Exception {
        Criteria<float[], Integer> criteria =
                Criteria.builder()
                        .setTypes(float[].class, Integer.class)
                        .optEngine("TFLite")
                        .optModelPath(model)
                        .optModelName("mobilenet_v2")
                        .optArgument("delegation.profile", "blocking")
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(new BestClassTranslator()))
                        .build();
        Map<Long, Integer> classes = new HashMap<>();
        try (ZooModel<float[], Integer> measured = criteria.loadModel();
                Predictor<float[], Integer> predictor = measured.newPredictor()) {
            DelegationReport report =
                    PlanReport.of(measured).flatMap(PlanReport::delegation).orElseThrow();
            assertEquals(Origin.MEASURED, report.origin(), report.reason());
            for (long row = 0; row < ROWS; row++) {
                classes.put(row, predictor.predict(Image.of(row)));
            }
        }
        return classes;
    }

    private static JobJar thin() throws Exception {
        return new JobJar()
                .with(
                        BestClassTranslator.class,
                        SharedClassifier.class,
                        ClassifyImages.class,
                        ClassifyAsync.class,
                        Examination.class,
                        Examined.class,
                        Image.class,
                        Image.NumberOf.class);
    }

    /** Returns a jar with djl-plan, its dependencies, DJL and the engine. */
    private static JobJar fat() throws Exception {
        JobJar jar = thin().withPlan();
        for (Class<?> each :
                List.of(
                        MeasuredDelegation.class,
                        Model.class,
                        Gson.class,
                        Native.class,
                        ArchiveStreamFactory.class)) {
            jar.withAll(each);
        }
        URI engine =
                FlinkRouteTest.class
                        .getResource("/org/bytedeco/tensorflowlite/linux-x86_64")
                        .toURI();
        String place = engine.getRawSchemeSpecificPart().replaceFirst("!.*", "");
        return jar.withAll(Path.of(URI.create(place)));
    }

    private static DataStream<Tuple2<Long, float[]>> images(Path jar) throws Exception {
        return numbers(jar).map(new Image());
    }

    private static List<Examined> examine(Path jar, int failures) throws Exception {
        List<Examined> rows =
                run(images(jar).map(new Examination(failures))).stream()
                        .sorted(Comparator.comparing((Examined row) -> row.number))
                        .toList();
        assertEquals(
                LongStream.range(0, ROWS).boxed().toList(),
                rows.stream().map(row -> row.number).toList());
        rows.forEach(row -> assertEquals(expected.get(row.number), row.best));
        return rows;
    }

    private static void assertPlannedAndCollected(Path jar) throws Exception {
        Set<String> facts = new HashSet<>();
        submit(
                () -> run(images(thin).map(new Image.NumberOf())),
                () -> {
                    examine(jar, 0).forEach(row -> facts.add(row.facts));
                    return facts;
                });
        assertEquals(Set.of(STORED), facts);
    }

    @Test
    void thinJar_submittedThreeTimes_plannedAndLoadersAreCollected() throws Exception {
        assertPlannedAndCollected(thin);
    }

    @Test
    void fatJar_submittedThreeTimes_plannedAndLoadersAreCollected() throws Exception {
        assertPlannedAndCollected(fat().writeTo(folder.resolve("fat.jar")));
    }

    @Test
    void restarts_fromCheckpoints_everyRowOnceAndNoMoreMemory() throws Exception {
        List<Examined> rows = examine(thin, JobCluster.RESTARTS);

        assertEquals(
                JobCluster.RESTARTS,
                rows.stream().mapToInt(row -> row.attempt).max().orElseThrow());
        assertEquals(Set.of(STORED), new HashSet<>(rows.stream().map(row -> row.facts).toList()));
        long growthBytes = mostBytes(rows, JobCluster.RESTARTS) - mostBytes(rows, 0);
        assertTrue(growthBytes < MOST_GROWTH_BYTES, () -> growthBytes + " bytes more");
    }

    private static long mostBytes(List<Examined> rows, int attempt) {
        return rows.stream()
                .filter(row -> row.attempt == attempt)
                .mapToLong(row -> row.residentBytes)
                .max()
                .orElseThrow();
    }

    @Test
    void classify_inEachSlot_everyRowOnce() throws Exception {
        assertEvery(run(images(thin).map(new ClassifyImages())));

        Map<String, Long> figures = SeenMetrics.largest();
        assertTrue(figures.get("arenaBytes") > 0, figures.toString());
        assertTrue(figures.get("predictions") > 0, figures.toString());
        assertEquals(0, figures.get("unplanned"), figures.toString());
        assertTrue(figures.containsKey("waiting"), figures.toString());
    }

    @Test
    void classifyAsync_severalRowsAtOnce_everyRowOnce() throws Exception {
        DataStream<Tuple2<Long, float[]>> images = images(thin);
        assertEvery(
                run(
                        AsyncDataStream.unorderedWait(
                                images,
                                new ClassifyAsync(model.toString()),
                                1,
                                TimeUnit.MINUTES,
                                8)));
    }

    private static void assertEvery(List<Tuple2<Long, Integer>> rows) {
        assertEquals(ROWS, rows.size());
        Map<Long, Integer> classes = new HashMap<>();
        rows.forEach(row -> classes.put(row.f0, row.f1));
        assertEquals(expected, classes);
    }
}
