package org.djlplan.integration.shapes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.djlplan.integration.support.RealModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Models whose inputs have another shape with nearly every request, stock and planned in turns,
 * each in a JVM of its own. Asserts nothing, because machines are noisy.
 */
@Tag("bench")
class ShapesBench {

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 3);
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final List<Integer> THREADS = List.of(1, 8);
    private static final double MEGA = 1e6;

    @TempDir private Path folder;

    @Test
    void printSentenceEncoder() throws Exception {
        print("text", "minilm", 400);
    }

    @Test
    void printTinyEncoder() throws Exception {
        print("text", "tiny_text", 3000);
    }

    @Test
    void printImages() throws Exception {
        print("image", "resnet50", 150);
    }

    @Test
    void printDecoder() throws Exception {
        print("decoder", "decoder", 2048);
    }

    /** Ratios are planned to stock, medians of the rounds. */
    private void print(String kind, String name, int requests) throws Exception {
        System.out.printf("%n%s, %d requests%n", name, requests);
        System.out.printf(
                "%7s %8s %8s %8s %8s %8s %8s %8s %8s%n",
                "threads", "per s", "/ stock", "early", "CPU", "p50", "p99", "MB", "/ stock");
        for (int threads : THREADS) {
            List<JsonObject> stock = new ArrayList<>();
            List<JsonObject> planned = new ArrayList<>();
            for (int round = 0; round < FRESH; round++) {
                stock.add(run("stock", kind, name, threads, requests));
                planned.add(run("planned", kind, name, threads, requests));
            }
            System.out.printf(
                    Locale.ROOT,
                    "%7d %8.2f %8.3f %8.3f %8.3f %8.3f %8.3f %8.1f %8.3f%s %s%n",
                    threads,
                    median(planned, "perSecond"),
                    ratio(planned, stock, "perSecond"),
                    ratio(planned, stock, "earlyPerSecond"),
                    ratio(planned, stock, "cpuMillis"),
                    ratio(planned, stock, "medianMillis"),
                    ratio(planned, stock, "p99Millis"),
                    median(planned, "residentBytes") / MEGA,
                    ratio(planned, stock, "residentBytes"),
                    planned.get(0).get("hash").equals(stock.get(0).get("hash"))
                            ? ""
                            : " OTHER ANSWERS",
                    planned.get(0).get("report").getAsString());
        }
    }

    private static double median(List<JsonObject> all, String name) {
        double[] values = all.stream().mapToDouble(json -> json.get(name).getAsDouble()).toArray();
        Arrays.sort(values);
        return values[values.length / 2];
    }

    private static double ratio(List<JsonObject> all, List<JsonObject> others, String name) {
        return median(all, name) / median(others, name);
    }

    private JsonObject run(String mode, String kind, String name, int threads, int requests)
            throws IOException, InterruptedException {
        Path own = Files.createTempDirectory(folder, "model").resolve(name + ".pt");
        Files.copy(RealModels.TORCHSCRIPT.file(name), own);
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process process =
                new ProcessBuilder(
                                JAVA.toString(),
                                "-Xmx256m",
                                "-XX:+UseSerialGC",
                                "-Dai.djl.offline=true",
                                "-Dai.djl.pytorch.num_threads=1",
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                                "-DENGINE_CACHE_DIR=" + System.getProperty("ENGINE_CACHE_DIR"),
                                "-cp",
                                System.getProperty("java.class.path"),
                                ShapesApplication.class.getName(),
                                mode,
                                kind,
                                own.toString(),
                                Integer.toString(threads),
                                Integer.toString(requests))
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .start();
        if (process.waitFor() != 0) {
            throw new IllegalStateException(Files.readString(err));
        }
        return JsonParser.parseString(Files.readString(out)).getAsJsonObject();
    }
}
