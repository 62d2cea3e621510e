package org.djlplan.integration.pool;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
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
import org.djlplan.integration.pool.PoolApplication.Run;

/**
 * Runs a model in three ways: stock, planned, and planned with a semaphore. Each way runs on 1, 2,
 * 8 and 64 threads. Each run has its own JVM, and the ways take turns. Prints medians, and the
 * medians of each round's ratios.
 *
 * @param folder the folder for copies of models, plans and output
 */
record PoolTable(Path folder) {

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 3);
    private static final List<Integer> THREADS = List.of(1, 2, 8, 64);
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final double MEGA = 1e6;

    /** Returns a copy of a model in a folder of its own. */
    Path copy(Path file) throws IOException {
        Path own = Files.createTempDirectory(folder, "model");
        return Files.copy(file, own.resolve(file.getFileName()));
    }

    /** Prints memory relative to the planned model on one thread, and times relative to stock. */
    void print(String title, Path given, String translator, int predictions) throws Exception {
        Path model = Files.isRegularFile(given) ? copy(given) : given;
        // Stores the plan, as the first start of a service does.
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
        return run(each, Map.of());
    }

    /**
     * Returns the figures of a run in a JVM of its own.
     *
     * @param environment variables that only that JVM has
     */
    JsonObject run(Run each, Map<String, String> environment)
            throws IOException, InterruptedException {
        return run(each, environment, List.of());
    }

    /**
     * Returns the figures of a run in a JVM of its own.
     *
     * @param environment variables that only that JVM has
     * @param jars that only that JVM has
     */
    JsonObject run(Run each, Map<String, String> environment, List<Path> jars)
            throws IOException, InterruptedException {
        StringBuilder classPath = new StringBuilder(System.getProperty("java.class.path"));
        jars.forEach(jar -> classPath.append(File.pathSeparator).append(jar.toAbsolutePath()));
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
                        "-DDJL_CACHE_DIR=" + folder,
                        "-DENGINE_CACHE_DIR=" + System.getProperty("ENGINE_CACHE_DIR"),
                        "-cp",
                        classPath.toString(),
                        PoolApplication.class.getName()));
        command.addAll(List.of(each.arguments()));
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (process.waitFor() != 0) {
            throw new IllegalStateException(Files.readString(err));
        }
        return JsonParser.parseString(Files.readString(out)).getAsJsonObject();
    }
}
