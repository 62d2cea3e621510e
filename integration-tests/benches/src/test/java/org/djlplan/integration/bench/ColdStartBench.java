package org.djlplan.integration.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.TestModels;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.math.Quantiles;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures what a first load adds to a process that has loaded the engine: stock, planned,
 * delegated with a choice that was measured before, and the engine's C interface with XNNPACK.
 * Every run is in a JVM of its own; JVMs take turns. Prints a table; asserts nothing, because
 * machines are noisy.
 *
 * <p>{@code -Ddjlplan.bench.fresh=N} starts N JVMs of each kind.
 */
@Tag("bench")
@Tag("djl-current")
class ColdStartBench {

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 5);
    private static final double MEGA = 1e6;
    private static final String LATER = "100";

    /** The whole heap is in memory from the start, so only native memory grows. */
    private static final String[] JVM = {
        "-XX:TieredStopAtLevel=4",
        "-Xms128m",
        "-Xmx128m",
        "-XX:+AlwaysPreTouch",
        "-XX:+UseSerialGC",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:NativeMemoryTracking=summary",
        "-XX:+PrintNMTStatistics",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"
    };

    private static final Pattern CLASSES = Pattern.compile("\\(classes #(\\d+)\\)");
    private static final Pattern METADATA = Pattern.compile("used=(\\d+)");
    private static final Pattern COMMITTED = Pattern.compile("Total: .*committed=(\\d+)");

    @TempDir Path folder;

    private record Way(String name, List<String> arguments) {}

    /**
     * One JVM's figures: milliseconds of the load, of the first prediction and of 99 others;
     * megabytes; and loaded classes.
     */
    private record Row(double[] figures) {}

    @Test
    void printWakeWord() throws Exception {
        Optional<Path> file =
                RealModels.TFLITE.present().stream()
                        .filter(f -> f.endsWith("rnet.tflite"))
                        .findFirst();
        if (file.isPresent()) {
            printTfLite(file.get(), "1,24,24,3");
        }
    }

    @Test
    void printMobileNet() throws Exception {
        printTfLite(TestModels.built("mobilenet_v2"), "1,224,224,3");
    }

    /** {@code integration-tests/torchscript_models.py tiny_text} makes the model. */
    @Test
    void printTinyText() throws Exception {
        Path file = Path.of("models", "torchscript", "tiny_text.pt");
        if (Files.exists(file)) {
            Path own = Files.copy(file, folder.resolve(file.getFileName()));
            List<String> rest = List.of(own.toString(), "2,64", "integers", LATER);
            print(own, List.of(way("stock", rest), way("planned", rest)));
        }
    }

    private void printTfLite(Path model, String shape) throws Exception {
        Path own = Files.copy(model, folder.resolve(model.getFileName()));
        List<String> rest = List.of(own.toString(), shape, "floats", LATER);
        Way delegated = way("delegated", rest, "memplan.threads=1");
        run(way("measured", rest, "memplan.threads=1", "delegation.profile=blocking"));
        print(
                own,
                List.of(
                        way("stock", rest),
                        way("planned", rest, "memplan.threads=1", "delegation.enabled=false"),
                        delegated,
                        way("xnnpack", rest)));
    }

    private static Way way(String name, List<String> rest, String... options) {
        List<String> arguments = new ArrayList<>();
        arguments.add(name.equals("stock") || name.equals("xnnpack") ? name : "planned");
        arguments.addAll(rest);
        arguments.addAll(List.of(options));
        return new Way(name, arguments);
    }

    private void print(Path model, List<Way> ways) throws Exception {
        List<List<Row>> rows = new ArrayList<>();
        ways.forEach(way -> rows.add(new ArrayList<>()));
        for (int round = 0; round < FRESH; round++) {
            for (int i = 0; i < ways.size(); i++) {
                rows.get(i).add(run(ways.get(i)));
            }
        }
        System.out.printf(
                Locale.ROOT,
                "%-18s %8s %8s %8s %9s %8s %9s %9s%n",
                model.getFileName(),
                "load ms",
                "first ms",
                "99 more",
                "grown MB",
                "classes",
                "meta MB",
                "JVM MB");
        for (int i = 0; i < ways.size(); i++) {
            List<Row> all = rows.get(i);
            double[] medians =
                    IntStream.range(0, 7)
                            .mapToDouble(
                                    column ->
                                            Quantiles.median()
                                                    .compute(
                                                            all.stream()
                                                                    .map(r -> r.figures[column])
                                                                    .toList()))
                            .toArray();
            System.out.printf(
                    Locale.ROOT,
                    "%-18s %8.1f %8.1f %8.1f %9.1f %8.0f %9.2f %9.1f%n",
                    ways.get(i).name,
                    medians[0],
                    medians[1],
                    medians[2],
                    medians[3],
                    medians[4],
                    medians[5],
                    medians[6]);
        }
    }

    private Row run(Way way) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options(JVM)
                        .run(ColdStartProgram.class, way.arguments.toArray(String[]::new));
        List<String> lines = result.out().lines().toList();
        List<String> words = Splitter.on(' ').splitToList(lines.isEmpty() ? "" : lines.get(0));
        if (result.exitCode() != 0 || words.size() != 4) {
            throw new IllegalStateException(way.name + ": " + result.printed());
        }
        String text = result.out();
        return new Row(
                new double[] {
                    Double.parseDouble(words.get(0)),
                    Double.parseDouble(words.get(1)),
                    Double.parseDouble(words.get(2)),
                    Double.parseDouble(words.get(3)) / MEGA,
                    first(CLASSES, text),
                    METADATA.matcher(text)
                                    .results()
                                    .map(found -> found.group(1))
                                    .mapToLong(Long::parseLong)
                                    .sum()
                            / MEGA,
                    first(COMMITTED, text) / MEGA
                });
    }

    private static double first(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .mapToDouble(Double::parseDouble)
                .findFirst()
                .orElseThrow();
    }
}
