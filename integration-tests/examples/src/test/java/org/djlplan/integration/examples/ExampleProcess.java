package org.djlplan.integration.examples;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An example that was started with {@code java -jar}. */
final class ExampleProcess implements AutoCloseable {

    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

    private final Process process;
    private final List<String> lines = new ArrayList<>();
    private final CompletableFuture<Integer> port = new CompletableFuture<>();
    private final Thread reader = new Thread(this::read, "example");

    /**
     * Starts an example.
     *
     * @param name of the example's folder and jar
     * @param options of the JVM, in addition to where engines find their libraries
     */
    ExampleProcess(String name, List<String> options, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Dai.djl.offline=true");
        command.add("-DDJL_CACHE_DIR=" + System.getProperty("DJL_CACHE_DIR"));
        command.add("-DENGINE_CACHE_DIR=" + System.getProperty("ENGINE_CACHE_DIR"));
        command.add("-Xmx512m");
        command.addAll(options);
        command.addAll(List.of("-jar", Path.of(name, "target", name + ".jar").toString()));
        command.addAll(arguments);
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        reader.start();
    }

    private void read() {
        try (BufferedReader in = process.inputReader()) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                synchronized (lines) {
                    lines.add(line);
                }
                Matcher started = PORT.matcher(line);
                if (started.find()) {
                    port.complete(Integer.valueOf(started.group(1)));
                }
            }
        } catch (IOException e) {
            // It was killed.
        } finally {
            port.completeExceptionally(new IOException("it has ended:\n" + printed()));
        }
    }

    /** Returns its output so far. */
    String printed() {
        synchronized (lines) {
            return String.join("\n", lines);
        }
    }

    /** Waits for its web server, and returns the server's address. */
    String address() throws Exception {
        return "http://localhost:" + port.get(4, TimeUnit.MINUTES);
    }

    /** Asks it to end, as a container's runtime does. */
    void terminate() {
        // A process that is destroyed by Java has its output closed, too.
        assertTrue(process.toHandle().destroy());
    }

    /** Waits for its end. */
    int exitValue() throws InterruptedException {
        assertTrue(process.waitFor(1, TimeUnit.MINUTES), () -> "it does not end:\n" + printed());
        reader.join();
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
