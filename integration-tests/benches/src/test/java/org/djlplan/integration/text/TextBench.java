package org.djlplan.integration.text;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.integration.support.RealModels;
import org.djlplan.memplan.testing.MemoryGroup;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares text services, stock and planned in turns, each in its own JVM. Asserts nothing, because
 * machines are noisy.
 *
 * <p>{@code -Ddjlplan.bench.fresh=N} runs each service N times, {@code -Ddjlplan.bench.requests=N}
 * sends N requests. {@code integration-tests/torchscript_models.py sentences generator} makes the
 * models.
 */
@Tag("bench")
class TextBench {

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 3);
    private static final int REQUESTS = Integer.getInteger("djlplan.bench.requests", 1200);
    private static final int CONNECTIONS = 8;
    private static final int WARM = 100;
    private static final int MOST_WORDS = 150;
    private static final int CALLERS = 64;
    private static final int BURSTS = 6;
    private static final int GENERATIONS = 8;
    private static final int[] SEQUENCES = {1, 4};
    private static final long CONTAINER_BYTES = 600L << 20;
    private static final double MEGA = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    @TempDir Path folder;

    /** The figures of a process; a process that was killed has none. */
    private record Run(Optional<JsonObject> figures, String log) {

        private double get(String name) {
            return figures.map(json -> json.get(name).getAsDouble()).orElse(Double.NaN);
        }
    }

    /** The requests of one run. */
    private record Load(double perSecond, double medianMillis, double p99Millis, Run run) {}

    /** Eight connections send texts of 1 to 150 words, each connection one text after another. */
    @Test
    void printService() throws Exception {
        print(
                "%n%-8s %8s %8s %8s %8s %8s%n",
                "embed", "per s", "p50 ms", "p99 ms", "MB", "peak MB");
        for (int round = 0; round < FRESH; round++) {
            for (String mode : List.of("stock", "planned")) {
                Load load = serve(mode);
                print(
                        "%-8s %8.2f %8.1f %8.1f %8.1f %8.1f  %s%n",
                        mode,
                        load.perSecond,
                        load.medianMillis,
                        load.p99Millis,
                        load.run.get("residentBytes") / MEGA,
                        load.run.get("peakBytes") / MEGA,
                        load.run.figures.map(json -> text(json, "report")).orElse("killed"));
            }
        }
    }

    /** Sends many requests of mixed length at once, in a container and without a limit. */
    @Test
    void printBurst() throws Exception {
        print("%n%-22s %8s %8s %12s%n", CALLERS + " texts at once", "per s", "peak MB", "hash");
        for (int round = 0; round < FRESH; round++) {
            printBurst("stock", Optional.empty());
            printBurst("planned", Optional.empty());
            for (String mode : List.of("stock", "planned")) {
                try (MemoryGroup group = MemoryGroup.of(CONTAINER_BYTES)) {
                    printBurst(mode, Optional.of(group));
                }
            }
        }
    }

    private void printBurst(String mode, Optional<MemoryGroup> group) throws Exception {
        Run run = run(mode, "sentences", "burst", CALLERS, BURSTS, group);
        print(
                "%-22s %8.2f %8.1f %12s%n",
                mode + group.map(g -> " in 600 MiB").orElse(""),
                run.get("perSecond"),
                run.get("peakBytes") / MEGA,
                run.figures.map(json -> text(json, "hash")).orElse("killed"));
    }

    /**
     * Generates one sequence, or four in a batch, of 256 tokens each, with each of DJL's searches.
     */
    @Test
    void printGeneration() throws Exception {
        print(
                "%n%-22s %8s %8s %8s %8s %12s%n",
                "generate", "first/s", "tokens/s", "CPU ms", "peak MB", "hash");
        for (String search : List.of("greedy", "beam", "contrastive")) {
            for (int sequences : SEQUENCES) {
                for (int round = 0; round < FRESH; round++) {
                    for (String mode : List.of("stock", "planned")) {
                        printGeneration(mode, search, sequences);
                    }
                }
            }
        }
    }

    private void printGeneration(String mode, String search, int sequences) throws Exception {
        Run run = run(mode, "generator", search, sequences, GENERATIONS, Optional.empty());
        print(
                "%-22s %8.1f %8.1f %8.3f %8.1f %12s%n",
                mode + " " + search + " " + sequences,
                run.get("firstPerSecond"),
                run.get("perSecond"),
                run.get("cpuMillisPerToken"),
                run.get("peakBytes") / MEGA,
                run.figures.map(json -> text(json, "hash")).orElse("killed"));
    }

    private static String text(JsonObject json, String name) {
        return json.has(name) ? json.get(name).getAsString() : "";
    }

    private static void print(String format, Object... values) {
        System.out.printf(Locale.ROOT, format, values);
    }

    private Process start(
            String mode,
            String model,
            String what,
            int atOnce,
            int rounds,
            Optional<MemoryGroup> group)
            throws IOException {
        Path file = TextFiles.write(RealModels.TORCHSCRIPT.file(model), folder);
        List<String> command = new ArrayList<>();
        group.ifPresent(g -> command.addAll(g.inside()));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-Dai.djl.offline=true",
                        "-Dai.djl.pytorch.num_threads=1",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                        "-DENGINE_CACHE_DIR=" + System.getProperty("ENGINE_CACHE_DIR"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        TextApplication.class.getName(),
                        mode,
                        file.toString(),
                        what,
                        Integer.toString(atOnce),
                        Integer.toString(rounds)));
        return new ProcessBuilder(command).redirectError(folder.resolve("err").toFile()).start();
    }

    private Run run(
            String mode,
            String model,
            String what,
            int atOnce,
            int rounds,
            Optional<MemoryGroup> group)
            throws IOException, InterruptedException {
        Process process = start(mode, model, what, atOnce, rounds, group);
        try (BufferedReader out = process.inputReader()) {
            return end(process, out);
        }
    }

    private static Run end(Process process, BufferedReader out)
            throws IOException, InterruptedException {
        String line = out.readLine();
        return process.waitFor() == 0
                ? new Run(Optional.of(JsonParser.parseString(line).getAsJsonObject()), "")
                : new Run(Optional.empty(), "exit code " + process.exitValue());
    }

    private Load serve(String mode) throws Exception {
        Process process = start(mode, "sentences", "serve", CONNECTIONS, 0, Optional.empty());
        try (BufferedReader out = process.inputReader()) {
            URI uri = URI.create("http://localhost:" + out.readLine() + "/embed");
            long[] unused = load(uri, TextFiles.texts(WARM, MOST_WORDS, 1));
            long since = System.nanoTime();
            long[] nanos = load(uri, TextFiles.texts(REQUESTS, MOST_WORDS, 2));
            double seconds = (System.nanoTime() - since) / NANOS_PER_SECOND;
            process.getOutputStream().close();
            Arrays.sort(nanos);
            return new Load(
                    REQUESTS / seconds,
                    nanos[REQUESTS / 2] / NANOS_PER_MILLI,
                    nanos[REQUESTS * 99 / 100] / NANOS_PER_MILLI,
                    end(process, out));
        } finally {
            process.destroyForcibly();
        }
    }

    /** Returns how long each request took. */
    private static long[] load(URI uri, List<String> texts) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(CONNECTIONS);
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).executor(pool).build();
        long[] nanos = new long[texts.size()];
        AtomicInteger next = new AtomicInteger();
        List<Thread> connections = new ArrayList<>();
        List<Exception> problems = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            Thread connection = new Thread(() -> send(client, uri, texts, next, nanos, problems));
            connection.start();
            connections.add(connection);
        }
        for (Thread connection : connections) {
            connection.join();
        }
        pool.shutdown();
        for (Exception problem : problems) {
            throw problem;
        }
        return nanos;
    }

    private static void send(
            HttpClient client,
            URI uri,
            List<String> texts,
            AtomicInteger next,
            long[] nanos,
            List<Exception> problems) {
        try {
            int i = next.getAndIncrement();
            while (i < nanos.length) {
                HttpRequest request =
                        HttpRequest.newBuilder(uri)
                                .POST(HttpRequest.BodyPublishers.ofString(texts.get(i)))
                                .build();
                long since = System.nanoTime();
                HttpResponse<String> answer =
                        client.send(request, HttpResponse.BodyHandlers.ofString());
                nanos[i] = System.nanoTime() - since;
                if (answer.statusCode() != 200) {
                    throw new IOException("status " + answer.statusCode());
                }
                i = next.getAndIncrement();
            }
        } catch (IOException | InterruptedException e) {
            synchronized (problems) {
                problems.add(e);
            }
        }
    }
}
