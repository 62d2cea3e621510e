package org.djlplan.integration.bench;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.contract.Threads;
import org.djlplan.thirdparty.guava.primitives.Longs;

/** The example {@code embedding} as a process, and clients that post texts to it. */
final class EmbeddingServer implements AutoCloseable {

    private static final String MAIN = "com.example.embedding.EmbeddingApplication";
    private static final int ATTEMPTS = 300;

    private final Process process;
    private final URI uri;

    /** The rate of all answers, and the time that a client waits for one. */
    record Figures(double perSecond, double medianMillis, double p99Millis) {

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT, "%8.1f %8.1f %8.1f", perSecond, medianMillis, p99Millis);
        }
    }

    /**
     * Starts the server.
     *
     * @param classPath of the example
     * @param model the folder of the model
     * @param options of the JVM
     */
    EmbeddingServer(String classPath, Path model, List<String> options) throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        uri = URI.create("http://localhost:" + port + "/embed");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx512m", "-Dai.djl.offline=true", "-cp", classPath));
        command.add("-Dai.djl.pytorch.num_threads=1");
        command.addAll(options);
        command.addAll(List.of(MAIN, "--server.port=" + port, "--embedding.model=" + model));
        process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
    }

    /** Posts all texts some times on each connection, and awaits the answers one by one. */
    Figures serve(List<String> texts, int connections, int rounds) throws Exception {
        long begin = System.nanoTime();
        List<long[]> all =
                Threads.all(
                        connections,
                        client -> {
                            HttpClient own =
                                    HttpClient.newBuilder()
                                            .version(HttpClient.Version.HTTP_1_1)
                                            .build();
                            int share = Math.max(1, rounds * texts.size() / connections);
                            long[] nanos = new long[share];
                            for (int i = 0; i < share; i++) {
                                long since = System.nanoTime();
                                post(own, texts.get((client + i) % texts.size()));
                                nanos[i] = System.nanoTime() - since;
                            }
                            return nanos;
                        });
        double seconds = (System.nanoTime() - begin) / 1e9;
        long[] nanos = Longs.concat(all.toArray(long[][]::new));
        Arrays.sort(nanos);
        return new Figures(
                nanos.length / seconds,
                nanos[nanos.length / 2] / 1e6,
                nanos[nanos.length * 99 / 100] / 1e6);
    }

    private void post(HttpClient client, String text) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(uri)
                        .header("Content-Type", "text/plain")
                        .POST(HttpRequest.BodyPublishers.ofString(text))
                        .build();
        for (int i = 1; ; i++) {
            try {
                HttpResponse<String> answer =
                        client.send(request, HttpResponse.BodyHandlers.ofString());
                if (answer.statusCode() != 200) {
                    throw new IllegalStateException(answer.body());
                }
                return;
            } catch (IOException e) {
                // The server starts.
                if (i == ATTEMPTS || !process.isAlive()) {
                    throw e;
                }
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
