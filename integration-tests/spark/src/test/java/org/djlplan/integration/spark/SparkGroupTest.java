package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.integration.spark.Load.Share;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.testing.MemoryGroup;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests an executor in a memory cgroup whose limit leaves twice the memory that the model takes in
 * the stock engine.
 */
@Tag("pipelines")
class SparkGroupTest {

    private static final int ROWS = 200;

    /**
     * The heap is in memory before the executor joins its group, so that the heap is not charged.
     */
    private static final String JVM = LocalCluster.JVM + " -Xms512m -XX:+AlwaysPreTouch";

    @TempDir static Path folder;

    /** Moves the executor into a control group. */
    private record Joining(String procs) implements FlatMapFunction<Iterator<Integer>, Long> {

        private static final long serialVersionUID = 1;

        @Override
        public Iterator<Long> call(Iterator<Integer> rows) throws Exception {
            long process = ProcessHandle.current().pid();
            Files.writeString(Path.of(procs), Long.toString(process));
            return List.of(process).iterator();
        }
    }

    private static final long WIDE = 2_000_000_000;

    private static final Map<String, String> ONE_LINE = Map.of("memplan.threads", "1");

    @BeforeAll
    static void makeModel() throws Exception {
        TfLiteWriter.write(MobileNetV2.build(1), folder.resolve("mobilenet_v2.tflite"));
    }

    /**
     * Returns the result of an executor in the group, which has to live to the end.
     *
     * @param options null for stock
     */
    private static List<Share> run(MemoryGroup group, Map<String, String> options)
            throws Exception {
        SparkConf configuration =
                LocalCluster.of(1, 1, folder, LocalCluster.classPath(), JVM)
                        .set("spark.executor.memory", "512m")
                        .set("spark.task.maxFailures", "1");
        try (JavaSparkContext spark = new JavaSparkContext(configuration)) {
            List<Integer> seeds = IntStream.range(0, ROWS).boxed().toList();
            // Loads Spark's own classes.
            assertEquals(ROWS, spark.parallelize(seeds, 16).map(i -> i + 1).count());
            Set<Long> processes =
                    Set.copyOf(
                            spark.parallelize(seeds, 1)
                                    .mapPartitions(new Joining(group.processes()))
                                    .collect());
            Load load =
                    new Load(
                            "TFLite",
                            folder.resolve("mobilenet_v2.tflite").toString(),
                            new long[] {1, 224, 224, 3},
                            options);
            List<Share> shares = spark.parallelize(seeds, 4).mapPartitions(load).collect();
            assertEquals(
                    processes, shares.stream().map(Share::process).collect(Collectors.toSet()));
            return shares;
        }
    }

    private static int bits(List<Share> shares) {
        return shares.stream().mapToInt(Share::bits).sum();
    }

    /**
     * First no measured result exists, and there is no room to measure; then a result is stored.
     */
    @Test
    void mapPartitions_littleMemory_livesWhereStockDoes() throws Exception {
        int expected;
        long limit;
        try (MemoryGroup wide = MemoryGroup.of(WIDE)) {
            expected = bits(run(wide, null));
            limit = wide.peakBytes() * 2;
        }
        try (MemoryGroup tight = MemoryGroup.of(limit)) {
            assertEquals(expected, bits(run(tight, null)));
        }
        try (MemoryGroup tight = MemoryGroup.of(limit)) {
            List<Share> shares = run(tight, ONE_LINE);
            assertEquals(expected, bits(shares));
            assertEquals("0/66 UNVERIFIED", shares.get(3).choice());
        }
        Map<String, String> blocking = new HashMap<>(ONE_LINE);
        blocking.put("delegation.profile", "blocking");
        List<Share> measured;
        try (MemoryGroup wide = MemoryGroup.of(WIDE)) {
            measured = run(wide, blocking);
            assertTrue(measured.get(3).choice().endsWith("MEASURED"), measured::toString);
        }
        try (MemoryGroup tight = MemoryGroup.of(limit)) {
            List<Share> shares = run(tight, ONE_LINE);
            assertTrue(shares.get(3).choice().endsWith("STORED"), shares::toString);
            assertEquals(bits(measured), bits(shares));
        }
    }
}
