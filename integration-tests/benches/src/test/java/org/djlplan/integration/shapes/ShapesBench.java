package org.djlplan.integration.shapes;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.djlplan.integration.support.RealModels;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares models whose inputs change shape with nearly every request, stock and planned in turns,
 * each in its own JVM. Asserts nothing, because machines are noisy.
 *
 * <p>{@code -Ddjlplan.bench.case=minilm/zipf} runs only the cases whose names begin with {@code
 * minilm/zipf}, {@code -Ddjlplan.bench.requests=N} sends N requests, and {@code
 * -Ddjlplan.bench.fresh=N} runs each case N times. {@code integration-tests/torchscript_models.py
 * NAME} makes a model.
 */
@Tag("bench")
@TestInstance(Lifecycle.PER_CLASS)
class ShapesBench {

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 3);
    private static final String CASE = System.getProperty("djlplan.bench.case", "");
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final ImmutableList<Integer> THREADS = ImmutableList.of(1, 2, 8, 64);
    private static final ImmutableList<Integer> SEQUENCES = ImmutableList.of(1, 4);
    private static final ImmutableList<String> DISTRIBUTIONS =
            ImmutableList.of("log_normal", "zipf", "uniform");
    private static final int THOUSAND = 1000;
    private static final double MEGA = 1e6;

    /** The message that {@code PredictionTally} logs. */
    private static final Pattern REACHED =
            Pattern.compile("reached (\\d+) bytes of an arena for (\\d+) in use");

    private static final String TRACE =
            "-Dorg.slf4j.simpleLogger.log.org.djlplan.memplan.internal.runtime.PredictionTally=trace";

    @TempDir private Path folder;

    private final List<Ratios> all = new ArrayList<>();
    private String headed = "";

    /**
     * One line of a table.
     *
     * @param kind kind of inputs that {@link ShapesApplication} generates
     */
    private record Case(
            String model, String kind, String distribution, int threads, int defaultRequests) {

        private String name() {
            return model + "/" + distribution + "/" + threads;
        }

        private boolean isChosen() {
            return name().startsWith(CASE);
        }

        private int requests() {
            return Integer.getInteger("djlplan.bench.requests", defaultRequests);
        }

        private String rerun() {
            return "-Ddjlplan.bench.case=" + name() + " -Ddjlplan.bench.requests=" + requests();
        }
    }

    /** The output of a process, and the files that it left. */
    private record Run(JsonObject figures, String log, long planFolderBytes) {

        private double get(String name) {
            return figures.get(name).getAsDouble();
        }
    }

    /** Figures of the planned model divided by stock's. */
    private record Ratios(
            double perSecond,
            double early,
            double cpu,
            double median,
            double p99,
            double resident,
            double peak) {

        private double[] values() {
            return new double[] {perSecond, early, cpu, median, p99, resident, peak};
        }

        private static Ratios of(List<Run> planned, List<Run> stock) {
            return new Ratios(
                    ratio(planned, stock, "perSecond"),
                    ratio(planned, stock, "earlyPerSecond"),
                    ratio(planned, stock, "cpuMillis"),
                    ratio(planned, stock, "medianMillis"),
                    ratio(planned, stock, "p99Millis"),
                    ratio(planned, stock, "residentBytes"),
                    ratio(planned, stock, "peakBytes"));
        }
    }

    @Test
    void printSentenceEncoder() throws Exception {
        print("minilm", "text", 800);
    }

    @Test
    void printTinyEncoder() throws Exception {
        print("tiny_text", "text", 3000);
    }

    @Test
    void printLargeEncoder() throws Exception {
        print("bert_text", "text", 100);
    }

    @Test
    void printReader() throws Exception {
        print("ocr", "line", 1000);
    }

    @Test
    void printImages() throws Exception {
        print("resnet50", "image", 150);
    }

    /** Generates sequences of 256 tokens each, one or several at once. A request is a token. */
    @Test
    void printGeneration() throws Exception {
        for (int sequences : SEQUENCES) {
            print(new Case("decoder", "decoder", "generation", sequences, 2048));
        }
    }

    /** Sends a new shape with each request, to measure the cost of a first-seen shape. */
    @Test
    void printFirstSeenShapes() throws Exception {
        print(new Case("minilm", "text", "even", 1, 500));
        print(new Case("tiny_text", "text", "even", 1, 2000));
        print(new Case("bert_text", "text", "even", 1, 60));
        print(new Case("ocr", "line", "even", 1, 600));
        print(new Case("resnet50", "batch", "even", 1, 100));
    }

    /** Prints resident megabytes after every 1,000 of 20,000 requests of 2,000 shapes. */
    @Test
    void printLongRun() throws Exception {
        Case longRun = new Case("tiny_text", "text", "even", 2, 20 * THOUSAND);
        if (!longRun.isChosen()) {
            return;
        }
        Run stock = run("stock", longRun);
        Run planned = run("planned", longRun);
        print("%n%8s %8s %8s  %s%n", "requests", "stock MB", "MB", longRun.rerun());
        JsonArray before = stock.figures.getAsJsonArray("residentBytesAfterThousands");
        JsonArray after = planned.figures.getAsJsonArray("residentBytesAfterThousands");
        for (int i = 0; i < after.size(); i++) {
            print(
                    "%8d %8.1f %8.1f%n",
                    (i + 1) * THOUSAND,
                    before.get(i).getAsDouble() / MEGA,
                    after.get(i).getAsDouble() / MEGA);
        }
        print(
                "per s %.2f of stock's, .djlplan %.1f kB%n",
                planned.get("perSecond") / stock.get("perSecond"), planned.planFolderBytes / 1e3);
    }

    /**
     * Prints how far predictions of 500 shapes reach in an arena, relative to the most bytes that
     * they use at once.
     */
    @Test
    void printArenas() throws Exception {
        print("%n%-26s %12s %8s %8s%n", "arena / bytes in use", "predictions", "mean", "largest");
        printArena("tiny_text", "text");
        printArena("minilm", "text");
        printArena("bert_text", "text");
        printArena("ocr", "line");
        printArena("resnet50", "image");
        printArena("resnet50", "batch");
        printArena("decoder", "decoder");
    }

    private void printArena(String model, String kind) throws Exception {
        Case named = new Case(model, kind, "arena-" + kind, 1, 500);
        if (!named.isChosen()) {
            return;
        }
        Case each = new Case(model, kind, "even", 1, named.requests());
        Run run = run("planned", each, TRACE);
        List<MatchResult> lines = REACHED.matcher(run.log).results().toList();
        double[] ratios =
                lines.stream()
                        .filter(line -> !line.group(2).equals("0"))
                        .mapToDouble(
                                line ->
                                        Double.parseDouble(line.group(1))
                                                / Double.parseDouble(line.group(2)))
                        .toArray();
        print(
                "%-26s %12d %8.3f %8.3f  %s  %s%n",
                named.name(),
                ratios.length,
                Arrays.stream(ratios).average().orElse(Double.NaN),
                Arrays.stream(ratios).max().orElse(Double.NaN),
                named.rerun(),
                run.figures.get("report").getAsString());
    }

    private void print(String model, String kind, int requests) throws Exception {
        for (String distribution : DISTRIBUTIONS) {
            for (int threads : THREADS) {
                print(new Case(model, kind, distribution, threads, requests));
            }
        }
    }

    /** Prints ratios of planned to stock, as medians of the rounds. */
    private void print(Case each) throws Exception {
        if (!each.isChosen()) {
            return;
        }
        if (!headed.equals(each.model)) {
            headed = each.model;
            print(
                    "%n%-26s %8s %8s %8s %8s %8s %8s %8s %8s %8s%n",
                    "model/distribution/threads",
                    "per s",
                    "/ stock",
                    "early",
                    "CPU",
                    "p50",
                    "p99",
                    "MB",
                    "/ stock",
                    "peak");
        }
        List<Run> stock = new ArrayList<>();
        List<Run> planned = new ArrayList<>();
        for (int round = 0; round < FRESH; round++) {
            stock.add(run("stock", each));
            planned.add(run("planned", each));
        }
        Ratios ratios = Ratios.of(planned, stock);
        all.add(ratios);
        print(
                "%-26s %8.2f %8.3f %8.3f %8.3f %8.3f %8.3f %8.1f %8.3f %8.3f%s  %s  %s%n",
                each.name(),
                median(planned, "perSecond"),
                ratios.perSecond,
                ratios.early,
                ratios.cpu,
                ratios.median,
                ratios.p99,
                median(planned, "residentBytes") / MEGA,
                ratios.resident,
                ratios.peak,
                planned.get(0).figures.get("hash").equals(stock.get(0).figures.get("hash"))
                        ? ""
                        : " OTHER ANSWERS",
                each.rerun(),
                planned.get(0).figures.get("report").getAsString());
    }

    @AfterAll
    void printMeans() {
        if (all.size() < 2) {
            return;
        }
        double[] means = new double[all.get(0).values().length];
        for (int i = 0; i < means.length; i++) {
            int column = i;
            DoubleStream values = all.stream().mapToDouble(ratios -> ratios.values()[column]);
            means[i] = Math.exp(values.map(Math::log).average().orElseThrow());
        }
        print(
                "%-26s %8s %8.3f %8.3f %8.3f %8.3f %8.3f %8s %8.3f %8.3f%n",
                "geometric mean of " + all.size(),
                "",
                means[0],
                means[1],
                means[2],
                means[3],
                means[4],
                "",
                means[5],
                means[6]);
    }

    private static void print(String format, Object... values) {
        System.out.printf(Locale.ROOT, format, values);
    }

    private static double median(List<Run> runs, String name) {
        double[] values = runs.stream().mapToDouble(run -> run.get(name)).sorted().toArray();
        return values[values.length / 2];
    }

    private static double ratio(List<Run> runs, List<Run> others, String name) {
        return median(runs, name) / median(others, name);
    }

    private Run run(String mode, Case each, String... options)
            throws IOException, InterruptedException {
        Path own = link(RealModels.TORCHSCRIPT.file(each.model));
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        List<String> command = new ArrayList<>();
        command.add(JAVA.toString());
        command.addAll(List.of(options));
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
                        ShapesApplication.class.getName(),
                        mode,
                        each.kind,
                        each.distribution,
                        own.toString(),
                        Integer.toString(each.threads),
                        Integer.toString(each.requests())));
        Process process =
                new ProcessBuilder(command)
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .start();
        if (process.waitFor() != 0) {
            throw new IllegalStateException(Files.readString(err));
        }
        return new Run(
                JsonParser.parseString(Files.readString(out)).getAsJsonObject(),
                Files.readString(err),
                bytesIn(own.resolveSibling(".djlplan")));
    }

    /**
     * Returns a link in a separate folder, because plans are stored beside the model; or a copy if
     * the folder is on another file system.
     */
    private Path link(Path file) throws IOException {
        Path own = Files.createTempDirectory(folder, "model").resolve(file.getFileName());
        return Files.getFileStore(file).equals(Files.getFileStore(folder))
                ? Files.createLink(own, file)
                : Files.copy(file, own);
    }

    private static long bytesIn(Path plans) throws IOException {
        if (!Files.isDirectory(plans)) {
            return 0;
        }
        long bytes = 0;
        try (Stream<Path> files = Files.list(plans)) {
            for (Path file : files.toList()) {
                bytes += Files.size(file);
            }
        }
        return bytes;
    }
}
