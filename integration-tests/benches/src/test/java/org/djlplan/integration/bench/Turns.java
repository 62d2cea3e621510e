package org.djlplan.integration.bench;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * Compares alternatives that take turns, each in a fresh JVM, and prints a table: the median of
 * each figure, half its range in percent, and its ratio to the first alternative. A JVM prints its
 * figures as a JSON object, or several if it has several rows. Figures may be texts; {@value
 * #OUTPUTS} are equal in all JVMs of a case, unless a delegate runs operators.
 *
 * <p>{@code -Ddjlplan.bench.fresh=N} starts N JVMs of each alternative, {@code
 * -Ddjlplan.bench.case=NAME} runs only the cases whose names begin so.
 */
public final class Turns implements AutoCloseable {

    /** The name of the figure that stands for all outputs. */
    static final String OUTPUTS = "outputs";

    /** The name of the figure that names a row, if a JVM prints several. */
    static final String ROW = "row";

    private static final String CASE = System.getProperty("djlplan.bench.case", "");

    private final Path folder;
    private final int rounds;
    private final Map<String, Map<String, List<Double>>> ratios = new TreeMap<>();

    /**
     * @param folder for copies of models and the output of JVMs
     * @param rounds the number of JVMs of each alternative, unless the property sets another
     */
    public Turns(Path folder, int rounds) {
        this.folder = folder;
        this.rounds = Integer.getInteger("djlplan.bench.fresh", rounds);
    }

    /**
     * An alternative.
     *
     * @param jvm sets the JVM's options, class path and environment
     * @param figures reads the figures from the output
     */
    public record Way(
            String name,
            Class<?> main,
            List<String> arguments,
            UnaryOperator<ChildJvm> jvm,
            Function<ChildJvm.Result, List<JsonObject>> figures) {

        public static Way of(String name, Class<?> main, String... arguments) {
            return new Way(name, main, List.of(arguments), jvm -> jvm, Turns::objects);
        }

        Way named(String other) {
            return new Way(other, main, arguments, jvm, figures);
        }

        public Way jvm(UnaryOperator<ChildJvm> more) {
            return new Way(name, main, arguments, jvm.andThen(more)::apply, figures);
        }

        Way figures(Function<ChildJvm.Result, List<JsonObject>> reader) {
            return new Way(name, main, arguments, jvm, reader);
        }
    }

    /**
     * Returns options of a JVM whose heap is in memory from the start, so that only native memory
     * grows.
     */
    static UnaryOperator<ChildJvm> heap(int megabytes) {
        return jvm ->
                jvm.options(
                        "-XX:TieredStopAtLevel=4",
                        "-Xms" + megabytes + "m",
                        "-Xmx" + megabytes + "m",
                        "-XX:+AlwaysPreTouch",
                        "-XX:+UseSerialGC",
                        "-Dai.djl.pytorch.num_threads=1",
                        "-Dai.djl.tflite.disable_alternative=true",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error");
    }

    /** Returns the JSON objects that a JVM printed. */
    static List<JsonObject> objects(ChildJvm.Result result) {
        return result.out()
                .lines()
                .filter(line -> line.startsWith("{"))
                .map(line -> JsonParser.parseString(line).getAsJsonObject())
                .toList();
    }

    /** Returns a copy in a separate folder, because results are stored beside the model. */
    Path copy(Path model) throws Exception {
        Path own = Files.createTempDirectory(folder, "model").resolve(model.getFileName());
        return Files.getFileStore(model).equals(Files.getFileStore(folder))
                ? Files.createLink(own, model.toRealPath())
                : Files.copy(model, own);
    }

    /** Runs an alternative once, and returns its rows. */
    List<JsonObject> run(Way way) throws Exception {
        ChildJvm.Result result =
                way.jvm
                        .apply(new ChildJvm(folder))
                        .run(way.main, way.arguments.toArray(String[]::new));
        if (result.exitCode() != 0) {
            throw new IllegalStateException(way + ": " + result.printed());
        }
        return way.figures.apply(result);
    }

    /** Returns whether a case is to be run. */
    static boolean isChosen(String name) {
        return name.startsWith(CASE);
    }

    /** Runs the alternatives of a case in turns, and prints them. */
    public void compare(String name, List<Way> ways) throws Exception {
        if (!isChosen(name)) {
            return;
        }
        Map<String, List<JsonObject>> rows = new LinkedHashMap<>();
        ways.forEach(way -> rows.put(way.name, new ArrayList<>()));
        for (int round = 0; round < rounds; round++) {
            List<Way> order = new ArrayList<>(ways);
            Collections.rotate(order, round);
            for (Way way : order) {
                for (JsonObject row : run(way)) {
                    String label = row.has(ROW) ? " " + row.remove(ROW).getAsString() : "";
                    rows.computeIfAbsent(way.name + label, key -> new ArrayList<>()).add(row);
                }
            }
        }
        rows.values().removeIf(List::isEmpty);
        print(name, rows);
    }

    private void print(String name, Map<String, List<JsonObject>> rows) {
        print("%n%s, %d JVMs each: median, half the range, / the first row%n", name, rounds);
        List<JsonObject> first = rows.values().iterator().next();
        print("%-28s", "");
        first.get(0).keySet().stream()
                .filter(key -> !key.equals(OUTPUTS))
                .forEach(key -> print(isNumber(first, key) ? " %22s" : "  %s", key));
        print("%n");
        rows.forEach(
                (row, runs) -> {
                    print("%-28s", row);
                    for (String key : runs.get(0).keySet()) {
                        printFigure(row, key, runs, first);
                    }
                    boolean same = runs.stream().allMatch(run -> equal(run, first.get(0), OUTPUTS));
                    print(same ? "%n" : "  other outputs%n");
                });
    }

    private void printFigure(
            String row, String key, List<JsonObject> runs, List<JsonObject> first) {
        if (key.equals(OUTPUTS)) {
            return;
        }
        if (!isNumber(runs, key)) {
            print("  %s", runs.get(runs.size() - 1).get(key).getAsString());
            return;
        }
        double[] values = values(runs, key);
        double median = Quantiles.median().compute(values);
        double range = Quantiles.percentiles().index(100).compute(values);
        range -= Quantiles.percentiles().index(0).compute(values);
        print(" %8.2f ±%2.0f%%", median, median == 0 ? 0 : 50 * range / median);
        if (runs == first || !isNumber(first, key)) {
            print("%9s", "");
            return;
        }
        double ratio = median / Quantiles.median().compute(values(first, key));
        ratios.computeIfAbsent(row, any -> new LinkedHashMap<>())
                .computeIfAbsent(key, any -> new ArrayList<>())
                .add(ratio);
        print(" %7.3f×", ratio);
    }

    private static boolean equal(JsonObject one, JsonObject other, String key) {
        return !one.has(key) || !other.has(key) || one.get(key).equals(other.get(key));
    }

    private static boolean isNumber(List<JsonObject> runs, String key) {
        JsonElement value = runs.get(0).get(key);
        return value != null && value.getAsJsonPrimitive().isNumber();
    }

    private static double[] values(List<JsonObject> runs, String key) {
        return runs.stream().mapToDouble(run -> run.get(key).getAsDouble()).toArray();
    }

    /** Prints the geometric means of all cases, if there are several. */
    @Override
    public void close() {
        ratios.forEach(
                (row, byKey) ->
                        byKey.forEach(
                                (key, all) -> {
                                    if (all.size() > 1) {
                                        print(
                                                "geometric mean of %d cases, %s / the first row, %s:"
                                                        + " %.3f%n",
                                                all.size(), row, key, mean(all));
                                    }
                                }));
    }

    private static double mean(List<Double> ratios) {
        return Math.exp(ratios.stream().mapToDouble(Math::log).average().orElseThrow());
    }

    private static void print(String format, Object... values) {
        System.out.printf(Locale.ROOT, format, values);
    }

    /** Returns the settings of {@code key=value} arguments; a later one replaces an earlier one. */
    static Map<String, String> settings(Stream<String> arguments) {
        Map<String, String> settings = new HashMap<>();
        arguments.forEach(
                argument -> {
                    String[] parts = argument.split("=", 2);
                    settings.put(parts[0], parts[1]);
                });
        return ImmutableMap.copyOf(settings);
    }
}
