package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests executors with Spark's own jars, which include an old Guava. The job brings djl-plan, DJL
 * and an engine.
 */
@Tag("pipelines")
class SparkJarsTest {

    private static final List<Integer> SEEDS = IntStream.range(0, 8).boxed().toList();

    @TempDir Path folder;

    /** Returns the bits of the rows' outputs by the same choice in this JVM. */
    private Map<Integer, Integer> expected() throws Exception {
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("TFLite")
                        .optModelPath(folder.resolve("model/mobilenet_v2.tflite"))
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(new NoopTranslator())
                                        .with("memplan.threads", 1)
                                        .with("delegation.onMissing", "fail"))
                        .build();
        try (ZooModel<NDList, NDList> model = criteria.loadModel();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            Map<Integer, Integer> bits = new HashMap<>();
            for (int seed : SEEDS) {
                bits.put(seed, Examination.bits(model, predictor, seed));
            }
            return bits;
        }
    }

    @Test
    void jars_besideAnOldGuava_sameChoiceAndBitsOnAllExecutors() throws Exception {
        MeasuredModel measured = MeasuredModel.in(folder);
        List<Examined> rows;
        Set<String> sources;
        try (JavaSparkContext spark =
                new JavaSparkContext(
                        LocalCluster.ofTwoWithJars(folder, List.of("/tensorflow-lite-")))) {
            spark.sc().addArchive(measured.archive() + "#classifier");
            rows =
                    spark.parallelize(SEEDS, 4)
                            .mapPartitions(
                                    new Examination(
                                            "jars",
                                            Examination.FILES + "classifier",
                                            Map.of("delegation.onMissing", "fail"),
                                            false))
                            .collect();
            sources =
                    new HashSet<>(
                            spark.parallelize(SEEDS, 4).mapPartitions(new Sources()).collect());
        }
        assertEquals(LocalCluster.SOURCES_WITH_JARS, sources);
        assertEquals(2, rows.stream().map(Examined::process).distinct().count());
        for (Examined row : rows) {
            assertEquals(
                    "1 threads, " + measured.choiceId() + ", STORED",
                    row.choice().replaceFirst("^\\d+ of \\d+ operators, ", ""));
        }
        assertEquals(
                expected(),
                rows.stream().collect(Collectors.toMap(Examined::seed, Examined::bits)));
    }
}
