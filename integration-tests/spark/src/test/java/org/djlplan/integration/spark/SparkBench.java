package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.types.Shape;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.integration.spark.Load.Share;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares rows per second and memory of executors, stock and planned, in turns. Each run has new
 * executors with one core. A prediction uses one thread, except with DJL 0.27.0, where it uses the
 * engine's default. The delegation is measured beforehand, as {@code djlplan tune} does. Asserts
 * only that outputs are equal where the kernels are the same. Needs the distribution, and DJL
 * 0.27.0's class path, which the integration tests write.
 */
@Tag("bench")
class SparkBench {

    private static final int ROUNDS = Integer.getInteger("djlplan.bench.rounds", 3);
    private static final int ROWS = Integer.getInteger("djlplan.bench.rows", 4000);
    private static final int SLOW_ROWS = 500;
    private static final int COLD_ROWS = 500;

    /**
     * Rows are divided among this number of jobs, one after another, because other work disturbs
     * some of them.
     */
    private static final int JOBS = 5;

    /** The whole heap is in memory before the model, so that added memory is not the heap's. */
    private static final String JVM =
            "-Dai.djl.offline=true -Dai.djl.tflite.disable_alternative=true -Xms1g"
                    + " -XX:+AlwaysPreTouch";

    private static final Path TARGET = Path.of("target").toAbsolutePath();
    static final Path MODELS = TARGET.resolve("../../models").normalize();

    @TempDir static Path folder;

    /** A class path and options. */
    private record Way(
            String name, boolean oldDjl, Map<String, String> options, int rows, int cores) {}

    /** The result of one run. */
    private record Outcome(
            List<Double> rowsPerSecond,
            double coldSeconds,
            double addedMegabytes,
            int bits,
            String choice) {}

    /** Returns the class path of executors. */
    static String classPath(boolean oldDjl) throws IOException {
        String own = LocalCluster.classPath();
        if (oldDjl) {
            Path old = TARGET.resolve("../../target/djl/0.27.0.txt");
            return Files.readString(old).strip() + File.pathSeparator + own;
        }
        try (Stream<Path> distributions =
                Files.list(TARGET.resolve("../../../distribution/target"))) {
            Path folder =
                    distributions
                            .filter(f -> Files.isDirectory(f.resolve("lib")))
                            .findFirst()
                            .orElseThrow();
            return own + File.pathSeparator + folder.resolve("lib") + "/*";
        }
    }

    private static Outcome run(Load load, Way way, int executors) throws IOException {
        SparkConf configuration =
                LocalCluster.of(executors, way.cores, folder, classPath(way.oldDjl), JVM);
        int partitions = executors * way.cores;
        try (JavaSparkContext spark = new JavaSparkContext(configuration)) {
            // Loads Spark's own classes once on every executor.
            spark.parallelize(IntStream.range(0, 64).boxed().toList(), 64).map(i -> i + 1).count();
            long begin = System.nanoTime();
            List<Share> cold = predict(spark, load, Math.min(COLD_ROWS, way.rows), partitions);
            double coldSeconds = (System.nanoTime() - begin) / 1e9;
            List<Share> warm = new ArrayList<>();
            List<Double> rates = new ArrayList<>();
            int rows = way.rows / JOBS;
            for (int job = 0; job < JOBS; job++) {
                begin = System.nanoTime();
                warm.addAll(predict(spark, load, rows, partitions));
                rates.add(rows * 1e9 / (System.nanoTime() - begin));
            }
            Map<Long, Long> added = new TreeMap<>();
            Stream.concat(cold.stream(), warm.stream())
                    .forEach(
                            s ->
                                    added.merge(
                                            s.process(),
                                            s.afterBytes() - s.beforeBytes(),
                                            Math::max));
            return new Outcome(
                    rates,
                    coldSeconds,
                    added.values().stream().mapToLong(b -> b).max().orElseThrow() / 1e6,
                    cold.stream().mapToInt(Share::bits).sum(),
                    warm.stream().map(Share::choice).distinct().collect(Collectors.joining("; ")));
        }
    }

    private static List<Share> predict(
            JavaSparkContext spark, Load load, int rows, int partitions) {
        return spark.parallelize(IntStream.range(0, rows).boxed().toList(), partitions)
                .mapPartitions(load)
                .collect();
    }

    private static double median(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        return sorted[sorted.length / 2];
    }

    private static Map<String, List<Outcome>> compare(
            String engine, String file, long[] shape, int executors, List<Way> ways)
            throws IOException {
        Map<String, List<Outcome>> all = new TreeMap<>();
        for (int round = 0; round < ROUNDS; round++) {
            for (Way way : ways) {
                all.computeIfAbsent(way.name, name -> new ArrayList<>())
                        .add(run(new Load(engine, file, shape, way.options), way, executors));
            }
        }
        System.out.printf(
                "%n%s on %s, %d executors, median of %d%n", file, engine, executors, ROUNDS);
        System.out.printf(
                "%-24s %10s %12s %12s  %s%n",
                "", "rows/s", "first rows, s", "added, MB", "delegated");
        for (Way way : ways) {
            List<Outcome> outcomes = all.get(way.name);
            System.out.printf(
                    Locale.ROOT,
                    "%-24s %10.1f %12.2f %12.1f  %s%n",
                    way.name,
                    median(
                            outcomes.stream()
                                    .flatMap(o -> o.rowsPerSecond.stream())
                                    .mapToDouble(rate -> rate)),
                    median(outcomes.stream().mapToDouble(Outcome::coldSeconds)),
                    median(outcomes.stream().mapToDouble(Outcome::addedMegabytes)),
                    outcomes.get(0).choice);
        }
        return all;
    }

    private static List<Way> tfLiteWays() {
        // DJL's own engine cannot be given a number of threads, on which the last bits depend.
        Map<String, String> oldMemory = Map.of("delegation.enabled", "false");
        Map<String, String> memory = Map.of("delegation.enabled", "false", "memplan.threads", "1");
        Map<String, String> line = Map.of("memplan.threads", "1");
        return List.of(
                new Way("stock, DJL 0.27.0", true, null, SLOW_ROWS, 1),
                new Way("stock, DJL 0.35.1", false, null, SLOW_ROWS, 1),
                new Way("planned, DJL 0.27.0", true, oldMemory, SLOW_ROWS, 1),
                new Way("planned, DJL 0.35.1", false, memory, SLOW_ROWS, 1),
                new Way("one line, DJL 0.27.0", true, line, ROWS, 1),
                new Way("one line, DJL 0.35.1", false, line, ROWS, 1));
    }

    /** Measures the delegation for both engines in advance, each in an executor. */
    private static void tune(String file, long[] shape) throws IOException {
        Map<String, String> blocking =
                Map.of("delegation.profile", "blocking", "memplan.threads", "1");
        for (boolean oldDjl : new boolean[] {true, false}) {
            run(
                    new Load("TFLite", file, shape, blocking),
                    new Way("tuning", oldDjl, blocking, 1, 1),
                    1);
        }
    }

    private static void compareTfLite(Path file, long[] shape) throws IOException {
        tune(file.toString(), shape);
        Map<String, List<Outcome>> all = compare("TFLite", file.toString(), shape, 2, tfLiteWays());
        for (String djl : List.of("0.27.0", "0.35.1")) {
            assertEquals(
                    all.get("stock, DJL " + djl).get(0).bits,
                    all.get("planned, DJL " + djl).get(0).bits);
            String line = "one line, DJL " + djl;
            assertEquals(1, all.get(line).stream().map(o -> o.bits).distinct().count());
        }
    }

    @Test
    void mobileNetV2() throws IOException {
        Path model = Files.createDirectories(folder.resolve("mobilenet_v2"));
        Path file = model.resolve("mobilenet_v2.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), file);
        compareTfLite(file, new long[] {1, 224, 224, 3});
    }

    @Test
    void handLandmark() throws IOException {
        Path model = Files.createDirectories(folder.resolve("hand_landmark"));
        Path file = model.resolve("hand_landmark_full.tflite");
        Files.copy(MODELS.resolve("hand_landmark_full.tflite"), file);
        compareTfLite(file, new long[] {1, 224, 224, 3});
    }

    /**
     * Prints the memory of one task, also with a budget smaller than the weights, and of four tasks
     * in one executor. An executor of another application writes the network.
     */
    @Test
    void resnet50() throws IOException {
        Map<String, String> budget = Map.of("memplan.budget", "96MB");
        List<Way> ways =
                List.of(
                        new Way("stock, 1 task", false, null, 100, 1),
                        new Way("one line, 1 task", false, Map.of(), 100, 1),
                        new Way("in 96 MB, 1 task", false, budget, 100, 1),
                        new Way("stock, 4 tasks", false, null, 100, 4),
                        new Way("one line, 4 tasks", false, Map.of(), 100, 4));
        String saved = folder.resolve("resnet50").toString();
        long[] shape = {1, 3, 224, 224};
        try (JavaSparkContext spark =
                new JavaSparkContext(LocalCluster.of(1, 1, folder, classPath(false), JVM))) {
            spark.parallelize(List.of(saved), 1)
                    .foreach(path -> Load.save("PyTorch", Path.of(path), new Shape(shape)));
        }
        compare("PyTorch", saved, shape, 1, ways);
    }
}
