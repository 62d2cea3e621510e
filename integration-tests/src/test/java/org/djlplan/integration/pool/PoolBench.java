package org.djlplan.integration.pool;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.djlplan.integration.RealModels;
import org.djlplan.integration.pool.PoolApplication.Run;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A pool of 1, 2, 8 and 64 threads, stock, planned, and planned with a gate, each run in a JVM of
 * its own, in turns; the engine uses one thread. Prints a table; asserts nothing but that all give
 * the same answers, because machines are noisy.
 */
@Tag("bench")
class PoolBench {

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 3);
    private static final List<Integer> THREADS = List.of(1, 2, 8, 64);
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final double MEGA = 1e6;

    @TempDir private Path folder;

    /** A way to run, and what it is run by. */
    private record Case(Run run, List<String> before) {}

    @Test
    void printTrivial() throws Exception {
        print(
                "resnet50.pt, values from a Java buffer",
                model("resnet50"),
                "trivial",
                300,
                List.of());
    }

    @Test
    void printImage() throws Exception {
        print(
                "mobilenet_v2.pt, images of 1920 x 1080",
                model("mobilenet_v2"),
                "image",
                300,
                List.of());
    }

    @Test
    void printBusy() throws Exception {
        Process neighbour =
                new ProcessBuilder("taskset", "-c", "0", "sh", "-c", "while :; do :; done").start();
        try {
            print(
                    "mobilenet_v2.pt, values from a Java buffer, a busy process on core 0",
                    model("mobilenet_v2"),
                    "trivial",
                    600,
                    List.of());
        } finally {
            neighbour.destroyForcibly();
        }
    }

    @Test
    void printTfLite() throws Exception {
        Path file = RealModels.TFLITE.file("hand_landmark_full");
        print("hand_landmark_full.tflite, CPU kernels", copy(file), "trivial", 300, List.of());
    }

    private Path model(String name) throws IOException {
        return copy(RealModels.TORCHSCRIPT.file(name));
    }

    private Path copy(Path file) throws IOException {
        Path own = Files.createTempDirectory(folder, "model");
        return Files.copy(file, own.resolve(file.getFileName()));
    }

    private void print(
            String title, Path model, String translator, int predictions, List<String> before)
            throws Exception {
        System.out.printf("%n%s%n", title);
        System.out.printf(
                "%-8s %8s %9s %7s %9s %9s %7s %9s %7s %9s %7s %9s%n",
                "",
                "threads",
                "RSS MB",
                "/ base",
                "peak MB",
                "per s",
                "/stock",
                "p50 ms",
                "/stock",
                "p99 ms",
                "/stock",
                "unplanned");
        // The plan is there as after the first start of a service.
        JsonObject first = run(new Case(new Run(model, "planned", translator, 1, 5), before));
        Map<Case, List<JsonObject>> results = new LinkedHashMap<>();
        for (int round = 0; round < FRESH; round++) {
            for (int threads : THREADS) {
                for (String mode : List.of("stock", "planned", "gate")) {
                    Case each =
                            new Case(
                                    new Run(model, mode, translator, threads, predictions), before);
                    results.computeIfAbsent(each, key -> new ArrayList<>()).add(run(each));
                }
            }
        }
        double base =
                median(
                        results.get(
                                new Case(
                                        new Run(model, "planned", translator, 1, predictions),
                                        before)),
                        "residentBytes");
        long hash = results.values().iterator().next().get(0).get("hash").getAsLong();
        results.forEach(
                (each, all) -> {
                    List<JsonObject> stock =
                            results.get(
                                    new Case(
                                            new Run(
                                                    model,
                                                    "stock",
                                                    translator,
                                                    each.run().threads(),
                                                    predictions),
                                            before));
                    System.out.printf(
                            Locale.ROOT,
                            "%-8s %8d %9.1f %7.2f %9.1f %9.2f %7.3f %9.1f %7.3f %9.1f %7.3f %9s%s%n",
                            each.run().mode(),
                            each.run().threads(),
                            median(all, "residentBytes") / MEGA,
                            median(all, "residentBytes") / base,
                            median(all, "peakBytes") / MEGA,
                            median(all, "perSecond"),
                            median(all, "perSecond") / median(stock, "perSecond"),
                            median(all, "medianMillis"),
                            median(all, "medianMillis") / median(stock, "medianMillis"),
                            median(all, "p99Millis"),
                            median(all, "p99Millis") / median(stock, "p99Millis"),
                            Optional.ofNullable(all.get(all.size() - 1).get("unplanned"))
                                    .map(Object::toString)
                                    .orElse("-"),
                            all.stream().allMatch(json -> json.get("hash").getAsLong() == hash)
                                    ? ""
                                    : "  OTHER ANSWERS");
                });
        System.out.println("first run: " + first);
    }

    private static double median(List<JsonObject> all, String name) {
        double[] values =
                all.stream().mapToDouble(json -> json.get(name).getAsDouble()).sorted().toArray();
        return values[values.length / 2];
    }

    private JsonObject run(Case each) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(each.before());
        command.addAll(
                List.of(
                        JAVA.toString(),
                        each.run().translator().equals("image") ? "-Xmx768m" : "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-Dai.djl.offline=true",
                        "-Dai.djl.pytorch.num_threads=1",
                        "-Dai.djl.tflite.disable_alternative=true",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                        "-DENGINE_CACHE_DIR=" + System.getProperty("ENGINE_CACHE_DIR"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        PoolApplication.class.getName()));
        command.addAll(List.of(each.run().arguments()));
        Path out = folder.resolve("out");
        Process process =
                new ProcessBuilder(command)
                        .redirectOutput(out.toFile())
                        .redirectError(folder.resolve("err").toFile())
                        .start();
        if (process.waitFor() != 0) {
            throw new IllegalStateException(Files.readString(folder.resolve("err")));
        }
        return JsonParser.parseString(Files.readString(out)).getAsJsonObject();
    }
}
