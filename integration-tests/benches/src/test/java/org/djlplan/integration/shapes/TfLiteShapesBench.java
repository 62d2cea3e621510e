package org.djlplan.integration.shapes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.djlplan.integration.support.RealModels;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares TensorFlow Lite models with inputs of many shapes: the plain engine, planned, delegated,
 * and XNNPACK by hand, in turns, each in its own JVMs. Asserts nothing, because machines are noisy.
 *
 * <p>{@code -Ddjlplan.bench.case=pnet/zipf} runs only the cases whose names begin with {@code
 * pnet/zipf}, {@code -Ddjlplan.bench.fresh=N} starts N JVMs of each kind.
 */
@Tag("bench")
@Tag("djl-current")
class TfLiteShapesBench {

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 3);
    private static final String CASE = System.getProperty("djlplan.bench.case", "");
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final ImmutableList<String> DISTRIBUTIONS =
            ImmutableList.of("uniform", "zipf", "few", "two", "fixed");
    private static final double MEGA = 1e6;

    @TempDir private Path folder;

    private boolean headed;

    @Test
    void printImagePyramid() throws Exception {
        print(RealModels.TFLITE.file("pnet"), "pyramid", 400);
    }

    @Test
    void printSpectrogram() throws Exception {
        print(RealModels.OPEN_SHAPES.file("melspectrogram"), "sound", 800);
    }

    @Test
    void printBatches() throws Exception {
        print(RealModels.OPEN_SHAPES.file("embedding_model"), "frames", 100);
    }

    private void print(Path model, String kind, int requests) throws Exception {
        for (String distribution : DISTRIBUTIONS) {
            for (int threads : distribution.equals("two") ? List.of(1, 8) : List.of(1)) {
                print(model, kind, distribution, threads, requests);
            }
        }
    }

    private void print(Path model, String kind, String distribution, int threads, int requests)
            throws Exception {
        String name = model.getFileName() + "/" + distribution + "/" + threads;
        if (!name.startsWith(CASE)) {
            return;
        }
        List<String> ways = List.of("plain", "planned", "delegated", "hand");
        List<List<JsonObject>> runs = new ArrayList<>();
        ways.forEach(way -> runs.add(new ArrayList<>()));
        for (int round = 0; round < FRESH; round++) {
            for (int way = 0; way < ways.size(); way++) {
                runs.get(way).add(run(ways.get(way), model, kind, distribution, threads, requests));
            }
        }
        if (!headed) {
            headed = true;
            print(
                    "%-34s %-10s %9s %7s %7s %7s %8s %8s%n",
                    "model/distribution/threads",
                    "way",
                    "per s",
                    "/ plain",
                    "CPU",
                    "p50",
                    "peak MB",
                    "/ plain");
        }
        for (int way = 0; way < ways.size(); way++) {
            List<JsonObject> plain = runs.get(0);
            List<JsonObject> each = runs.get(way);
            print(
                    "%-34s %-10s %9.2f %7.3f %7.3f %7.3f %8.1f %8.3f%n",
                    name,
                    ways.get(way),
                    median(each, "predictedPerSecond"),
                    ratio(each, plain, "predictedPerSecond"),
                    ratio(each, plain, "cpuMillis"),
                    ratio(each, plain, "medianMillis"),
                    median(each, "peakBytes") / MEGA,
                    ratio(each, plain, "peakBytes"));
        }
        if (!runs.get(0).get(0).get("hash").equals(runs.get(1).get(0).get("hash"))) {
            print("%s: OTHER ANSWERS%n", name);
        }
    }

    private static void print(String format, Object... values) {
        System.out.printf(Locale.ROOT, format, values);
    }

    private static double median(List<JsonObject> runs, String name) {
        double[] values =
                runs.stream().mapToDouble(run -> run.get(name).getAsDouble()).sorted().toArray();
        return values[values.length / 2];
    }

    private static double ratio(List<JsonObject> runs, List<JsonObject> others, String name) {
        return median(runs, name) / median(others, name);
    }

    private JsonObject run(
            String way, Path model, String kind, String distribution, int threads, int requests)
            throws IOException, InterruptedException {
        Path own = Files.createTempDirectory(folder, "model").resolve(model.getFileName());
        Path unused = Files.copy(model, own);
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process process =
                new ProcessBuilder(
                                JAVA.toString(),
                                "-Xmx256m",
                                // The application's garbage should not count as memory.
                                "-Xmn8m",
                                "-XX:+UseSerialGC",
                                "-Dai.djl.offline=true",
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                                "-cp",
                                System.getProperty("java.class.path"),
                                TfLiteShapesApplication.class.getName(),
                                way,
                                kind,
                                distribution,
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
