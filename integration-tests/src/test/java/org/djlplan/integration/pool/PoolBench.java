package org.djlplan.integration.pool;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.djlplan.integration.RealModels;
import org.djlplan.integration.pool.PoolApplication.Run;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A pool of 1, 2, 8 and 64 threads, stock, planned, and planned with a gate, each run in a JVM of
 * its own, in turns; the engine uses one thread. Prints tables: medians, and medians of the ratios
 * of each round. Asserts nothing, because machines are noisy.
 */
@Tag("bench")
class PoolBench {

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 3);
    private static final List<Integer> THREADS = List.of(1, 2, 8, 64);
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final double MEGA = 1e6;

    @TempDir private Path folder;

    @Test
    void printTrivial() throws Exception {
        print("resnet50.pt, values from a Java buffer", model("resnet50"), "trivial", 300);
    }

    @Test
    void printImage() throws Exception {
        print("mobilenet_v2.pt, images of 1920 x 1080", model("mobilenet_v2"), "image", 300);
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
                    600);
        } finally {
            neighbour.destroyForcibly();
        }
    }

    @Test
    void printTfLite() throws Exception {
        Path file = RealModels.TFLITE.file("hand_landmark_full");
        print(
                "hand_landmark_full.tflite, CPU kernels; stock: one prediction at a time, as more"
                        + " end the JVM",
                copy(file),
                "trivial",
                300);
    }

    private Path model(String name) throws IOException {
        return copy(RealModels.TORCHSCRIPT.file(name));
    }

    private Path copy(Path file) throws IOException {
        Path own = Files.createTempDirectory(folder, "model");
        return Files.copy(file, own.resolve(file.getFileName()));
    }

    /** Memory is compared with the planned model's on one thread, times with stock. */
    private void print(String title, Path model, String translator, int predictions)
            throws Exception {
        // The plan is there as after the first start of a service.
        JsonObject unused = run(new Run(model, "planned", translator, 1, 5));
        Map<Run, List<JsonObject>> results = new LinkedHashMap<>();
        for (int round = 0; round < FRESH; round++) {
            for (int threads : THREADS) {
                for (String mode : List.of("stock", "planned", "gate")) {
                    Run each = new Run(model, mode, translator, threads, predictions);
                    results.computeIfAbsent(each, key -> new ArrayList<>()).add(run(each));
                }
            }
        }
        System.out.printf("%n%s%n%-8s %7s", title, "", "threads");
        System.out.printf(" %8s %7s %8s %8s", "RSS MB", "/ base", "peak MB", "per s");
        System.out.printf(" %7s %9s %7s", "/ stock", "p50 ms", "/ stock");
        System.out.printf(" %9s %7s %s%n", "p99 ms", "/ stock", "unplanned");
        List<JsonObject> base = results.get(new Run(model, "planned", translator, 1, predictions));
        JsonElement answers = base.get(0).get("hash");
        for (Map.Entry<Run, List<JsonObject>> each : results.entrySet()) {
            Run run = each.getKey();
            List<JsonObject> all = each.getValue();
            List<JsonObject> stock =
                    results.get(new Run(model, "stock", translator, run.threads(), predictions));
            System.out.printf("%-8s %7d", run.mode(), run.threads());
            print(" %8.1f", median(all, "residentBytes") / MEGA);
            print(" %7.2f", ratio(all, base, "residentBytes"));
            print(" %8.1f", median(all, "peakBytes") / MEGA);
            for (String name : List.of("perSecond", "medianMillis", "p99Millis")) {
                print(name.equals("perSecond") ? " %8.2f" : " %9.1f", median(all, name));
                print(" %7.3f", ratio(all, stock, name));
            }
            boolean same = all.stream().allMatch(json -> json.get("hash").equals(answers));
            JsonElement unplanned = all.get(all.size() - 1).get("unplanned");
            System.out.printf(
                    " %s%s%n", unplanned == null ? "-" : unplanned, same ? "" : " OTHER ANSWERS");
        }
    }

    private static void print(String format, double value) {
        System.out.printf(Locale.ROOT, format, value);
    }

    private static double median(List<JsonObject> all, String name) {
        return median(all.stream().mapToDouble(json -> json.get(name).getAsDouble()).toArray());
    }

    private static double ratio(List<JsonObject> all, List<JsonObject> others, String name) {
        return median(
                IntStream.range(0, all.size())
                        .mapToDouble(
                                round ->
                                        all.get(round).get(name).getAsDouble()
                                                / others.get(round).get(name).getAsDouble())
                        .toArray());
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private JsonObject run(Run each) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.addAll(
                List.of(
                        JAVA.toString(),
                        each.translator().equals("image") ? "-Xmx768m" : "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-Dai.djl.offline=true",
                        "-Dai.djl.pytorch.num_threads=1",
                        "-Dai.djl.tflite.disable_alternative=true",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                        "-DENGINE_CACHE_DIR=" + System.getProperty("ENGINE_CACHE_DIR"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        PoolApplication.class.getName()));
        command.addAll(List.of(each.arguments()));
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process process =
                new ProcessBuilder(command)
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .start();
        if (process.waitFor() != 0) {
            throw new IllegalStateException(Files.readString(err));
        }
        return JsonParser.parseString(Files.readString(out)).getAsJsonObject();
    }
}
