package org.djlplan.integration.shapes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.djlplan.cli.zoo.Networks;
import org.djlplan.integration.support.RealModels;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares the memory and speed of PyTorch models: stock, planned by another build of this project
 * ("before"), and planned by this one, in turns, each in its own JVM. A further run of each build
 * logs how far predictions reach in an arena, relative to the most bytes that they use at once.
 * Asserts nothing, because machines are noisy.
 *
 * <p>{@code -Ddjlplan.bench.before=FOLDER} is the root of the other build, whose classes are
 * compiled; without it, there is none. The phase is {@code test}: later ones use jars. {@code
 * -Ddjlplan.bench.case=minilm} runs only the cases whose names begin so, {@code
 * -Ddjlplan.bench.fresh=N} runs each N times and prints medians. {@code
 * integration-tests/torchscript_models.py NAME} makes a model.
 */
@Tag("bench")
@Tag("djl-current")
class ArenasBench {

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 1);
    private static final String CASE = System.getProperty("djlplan.bench.case", "");
    private static final String BEFORE = System.getProperty("djlplan.bench.before", "");
    private static final double MEGA = 1e6;
    private static final int LOGGED = 60;

    private static final ImmutableList<Case> CASES =
            ImmutableList.of(
                    image("resnet18", 150),
                    image("resnet50", 60),
                    image("resnext50_32x4d", 50),
                    image("inception_v3", 60),
                    image("mobilenet_v2", 150),
                    image("mobilenet_v3_large", 150),
                    image("efficientnet_b0", 100),
                    image("densenet121", 50),
                    image("squeezenet1_1", 150),
                    image("vgg11", 40),
                    image("shufflenet_v2_x1_0", 200),
                    new Case("resnet50", "image", "log_normal", 1, 60),
                    new Case("resnet50", "batch", "even", 1, 20),
                    new Case("ocr", "line", "log_normal", 1, 300),
                    new Case("tiny_text", "text", "log_normal", 1, 2000),
                    new Case("tiny_text", "text", "log_normal", 8, 2000),
                    new Case("minilm", "text", "log_normal", 1, 100),
                    new Case("minilm", "text", "log_normal", 8, 100),
                    new Case("sentences", "masked", "log_normal", 1, 100),
                    new Case("bert_text", "text", "log_normal", 1, 20),
                    new Case("decoder", "decoder", "generation", 1, 1024),
                    new Case("lstm", "rows", "uniform", 1, 60),
                    new Case("gru", "rows", "uniform", 1, 60),
                    new Case("rnn", "rows", "uniform", 1, 120),
                    new Case("growing", "state", "one", 1, 120));

    /** A message of the planned model's logger. */
    private static final Pattern REACHED =
            Pattern.compile("reached (\\d+) bytes of an arena for (\\d+) in use");

    private static final String TRACE =
            "-Dorg.slf4j.simpleLogger.log.org.djlplan.memplan.internal.runtime=trace";

    @TempDir private Path folder;

    /**
     * One line for each contestant.
     *
     * @param kind kind of inputs that {@link ShapesApplication} generates
     */
    private record Case(String model, String kind, String distribution, int threads, int requests) {

        private String name() {
            return kind.equals("zoo")
                    ? "zoo:" + model
                    : model + "/" + kind + "/" + distribution + "/" + threads;
        }
    }

    private static Case image(String model, int requests) {
        return new Case(model, "image", "one", 1, requests);
    }

    @Test
    void printTorchScript() throws Exception {
        for (Case each : CASES) {
            print(each);
        }
    }

    @Test
    void printZoo() throws Exception {
        for (String network : Networks.names()) {
            print(new Case(network, "zoo", "one", 1, 40));
        }
    }

    private void print(Case each) throws Exception {
        if (!each.name().startsWith(CASE)) {
            return;
        }
        Map<String, List<JsonObject>> runs = new TreeMap<>(Collections.reverseOrder());
        for (int round = 0; round < FRESH; round++) {
            for (String contestant : contestants()) {
                JsonObject figures =
                        JsonParser.parseString(run(contestant, each)).getAsJsonObject();
                runs.computeIfAbsent(contestant, key -> new ArrayList<>()).add(figures);
            }
        }
        print(
                "%n%-34s %8s %8s %8s %8s %8s %8s  %s%n",
                each.name(), "MB", "peak", "faults", "per s", "early", "first", "arena / in use");
        String hash = runs.get("stock").get(0).get("hash").getAsString();
        for (String contestant : contestants()) {
            List<JsonObject> own = runs.get(contestant);
            print(
                    "%-34s %8.1f %8.1f %8.0f %8.2f %8.2f %8.1f  %s%s%n",
                    "  " + contestant,
                    median(own, "residentBytes") / MEGA,
                    median(own, "peakBytes") / MEGA,
                    median(own, "faults"),
                    median(own, "perSecond"),
                    median(own, "earlyPerSecond"),
                    median(own, "firstMillis"),
                    contestant.equals("stock") ? "" : arenas(contestant, each),
                    own.get(0).get("hash").getAsString().equals(hash) ? "" : "  OTHER ANSWERS");
        }
    }

    private static List<String> contestants() {
        return BEFORE.isEmpty() ? List.of("stock", "after") : List.of("stock", "before", "after");
    }

    /** Returns mean and largest quotient of a short run, and the largest arena. */
    private String arenas(String contestant, Case each) throws Exception {
        // Simultaneous predictions share an arena.
        Case alone =
                new Case(
                        each.model,
                        each.kind,
                        each.distribution,
                        1,
                        Math.min(LOGGED, each.requests));
        String unused = run(contestant, alone, TRACE);
        List<MatchResult> lines =
                REACHED.matcher(Files.readString(folder.resolve("err"))).results().toList();
        double[] ratios =
                lines.stream()
                        .filter(line -> !line.group(2).equals("0"))
                        .mapToDouble(line -> bytes(line, 1) / bytes(line, 2))
                        .toArray();
        double largest = lines.stream().mapToDouble(line -> bytes(line, 1)).max().orElse(0);
        return String.format(
                Locale.ROOT,
                "%.3f, at most %.3f in %d predictions, %.1f MB",
                Arrays.stream(ratios).average().orElse(Double.NaN),
                Arrays.stream(ratios).max().orElse(Double.NaN),
                ratios.length,
                largest / MEGA);
    }

    private static double bytes(MatchResult line, int group) {
        return Double.parseDouble(line.group(group));
    }

    private static void print(String format, Object... values) {
        System.out.printf(Locale.ROOT, format, values);
    }

    private static double median(List<JsonObject> runs, String name) {
        double[] values =
                runs.stream().mapToDouble(run -> run.get(name).getAsDouble()).sorted().toArray();
        return values[values.length / 2];
    }

    /** Runs the application, and returns its last line; its log is in the file "err". */
    private String run(String contestant, Case each, String... options) throws Exception {
        Path own = Files.createTempDirectory(folder, "model");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        command.addAll(
                List.of(
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-Dai.djl.offline=true",
                        "-Dai.djl.pytorch.num_threads=1",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                        "-DDJL_CACHE_DIR=" + own,
                        "-DENGINE_CACHE_DIR=" + System.getProperty("ENGINE_CACHE_DIR"),
                        "-cp",
                        classPath(contestant),
                        ShapesApplication.class.getName(),
                        contestant.equals("stock") ? "stock" : "planned",
                        each.kind,
                        each.distribution,
                        each.kind.equals("zoo") ? each.model : copy(each.model, own).toString(),
                        Integer.toString(each.threads),
                        Integer.toString(each.requests)));
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
        List<String> lines = Files.readAllLines(out);
        return lines.get(lines.size() - 1);
    }

    /** Returns a link or a copy in a separate folder, because plans are stored beside the model. */
    private static Path copy(String model, Path folder) throws Exception {
        Path file = RealModels.TORCHSCRIPT.file(model);
        Path own = folder.resolve(file.getFileName());
        return Files.getFileStore(file).equals(Files.getFileStore(folder))
                ? Files.createLink(own, file)
                : Files.copy(file, own);
    }

    /** Replaces this project's classes by those of the other build, except for the benchmarks. */
    private static String classPath(String contestant) {
        String own = System.getProperty("java.class.path");
        if (!contestant.equals("before")) {
            return own;
        }
        Path root = Path.of("").toAbsolutePath().getParent();
        Path benches = root.resolve("integration-tests/benches");
        return String.join(
                File.pathSeparator,
                Arrays.stream(own.split(File.pathSeparator))
                        .map(Path::of)
                        .map(
                                entry ->
                                        entry.startsWith(root) && !entry.startsWith(benches)
                                                ? Path.of(BEFORE).resolve(root.relativize(entry))
                                                : entry)
                        .map(Path::toString)
                        .toList());
    }
}
