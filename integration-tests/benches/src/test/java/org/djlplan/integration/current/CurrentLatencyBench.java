package org.djlplan.integration.current;

import ai.djl.engine.Engine;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.djlplan.integration.current.LatencyProgram.Way;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.child.ChildProcess;
import org.djlplan.memplan.internal.child.ChildProcess.Answer;
import org.djlplan.memplan.internal.child.JavaCommand;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.math.Quantiles;
import org.djlplan.thirdparty.guava.math.Stats;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares djl-plan's engine for current DJL with DJL 0.27.0's engine, and with the same library in
 * which XNNPACK is enabled by hand for all operators. Separate JVMs take turns, prediction by
 * prediction. Prints a table; asserts nothing, because machines are noisy.
 */
@Tag("bench")
@Tag("djl-current")
class CurrentLatencyBench {

    /** Sets of JVMs, one after another. */
    private static final int SETS = 5;

    private static final int ROUNDS = 11;
    private static final double ROUND_MILLIS = 20;
    private static final int MOST_PER_ROUND = 200;
    private static final int WARM_UP = 300;

    /**
     * Predictions of a small model, after which Java's compiler has compiled the code that
     * predicts.
     */
    private static final int FIRST = 20_000;

    private static final double WARM_UP_MILLIS = 300;

    /** Turns of each JVM if no number of threads is set. */
    private static final int TURNS = 3;

    private static final long TURN_NANOS = 2_000_000_000;
    private static final double LAST_MILLIS = 1000;

    /** Student's quantile of 97.5 % for four degrees of freedom: five sets. */
    private static final double STUDENT = 2.776;

    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private static final ImmutableList<String> JVM =
            ImmutableList.of("-Xms128m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:+AlwaysPreTouch");

    private static final ImmutableList<Way> ALL =
            ImmutableList.of(Way.STOCK, Way.PLANNED, Way.ONE_LINE, Way.BY_HAND);

    private static final ImmutableList<String> BUILT =
            ImmutableList.of("mobilenet_v1", "mobilenet_v2", "inception", "mobilenet_v2_int8");

    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    @TempDir Path folder;

    /** The medians of a model in one set of JVMs: milliseconds, and ratios of rounds. */
    private record Row(double stockMillis, double planned, double oneLine, double againstHand) {

        static Row of(double[][] times) {
            return new Row(
                    Quantiles.median().compute(times[0]),
                    ratio(times[1], times[0]),
                    ratio(times[2], times[0]),
                    ratio(times[2], times[3]));
        }
    }

    /**
     * Ratios of djl-plan's latency to the latency of XNNPACK enabled by hand, called through the C
     * interface and through a DJL block. The ratio of two JVMs that both use the C interface shows
     * the noise.
     */
    private record Beside(double oneLine, double oneLineInDjl, double byHand) {

        static Beside of(double[][] times) {
            return new Beside(
                    ratio(times[0], times[1]),
                    ratio(times[0], times[2]),
                    ratio(times[3], times[1]));
        }
    }

    @Test
    void printOnOneThread() throws Exception {
        print(1);
    }

    @Test
    void printOnTwoThreads() throws Exception {
        print(2);
    }

    /**
     * Sets no number of threads: DJL's engine uses its default, and the one line as many threads as
     * make it faster while processors are idle, which it observes for a second. So turns are long,
     * and only the end of each turn counts.
     */
    @Test
    void printAsTheyCome() throws Exception {
        print("DJL %s, threads as they come%n", Engine.getDjlVersion());
        print("%-34s %9s %9s  %s%n", "model", "0.27.0 ms", "one line", "delegated");
        List<Double> logs = new ArrayList<>();
        try (Players players = new Players(List.of(Way.STOCK, Way.ONE_LINE))) {
            for (Path model : models()) {
                String reason = players.load(model, LatencyProgram.AS_IT_COMES);
                double[] stock = new double[TURNS];
                double[] ratios = new double[TURNS];
                for (int turn = 0; turn < TURNS; turn++) {
                    stock[turn] = players.endOfTurn(players.ways(model).get(0), model);
                    ratios[turn] = players.endOfTurn(Way.ONE_LINE, model) / stock[turn];
                }
                double ratio = Quantiles.median().compute(ratios);
                print(
                        "%-34s %9.3f %9.4f  %s%n",
                        model.getFileName(), Quantiles.median().compute(stock), ratio, reason);
                if (!isOfIntegers(model)) {
                    logs.add(Math.log(ratio));
                }
            }
        }
        print("one line / 0.27.0, floats    geometric mean %.3f%n", Math.exp(Stats.meanOf(logs)));
    }

    private void print(int threads) throws Exception {
        Map<Path, List<Row>> rows = new TreeMap<>();
        Map<Path, String> reasons = new TreeMap<>();
        List<Path> models = models();
        Path small = copyOf(BudgetModels.TINY_RESNET.file());
        for (int set = 0; set < SETS; set++) {
            try (Players players = new Players(ALL)) {
                players.warmUp(small, threads);
                for (Path model : models) {
                    String reason = players.load(model, threads);
                    reasons.putIfAbsent(model, reason);
                    rows.computeIfAbsent(model, m -> new ArrayList<>())
                            .add(Row.of(players.play(model)));
                }
            }
        }
        print(
                "DJL %s, TFLite %s, %d thread(s), medians of %d sets of JVMs%n",
                Engine.getDjlVersion(), Engine.getEngine("TFLite").getVersion(), threads, SETS);
        print(
                "%-34s %9s %9s %9s %8s  %s%n",
                "model", "0.27.0 ms", "planned", "one line", "/ hand", "delegated");
        rows.forEach(
                (model, sets) ->
                        print(
                                "%-34s %9.3f %9.3f %9.4f %8.3f  %s%n",
                                model.getFileName(),
                                median(sets.stream().map(Row::stockMillis).toList()),
                                median(sets.stream().map(Row::planned).toList()),
                                median(sets.stream().map(Row::oneLine).toList()),
                                median(sets.stream().map(Row::againstHand).toList()),
                                reasons.get(model)));
        List<List<Row>> floats =
                rows.entrySet().stream()
                        .filter(row -> !isOfIntegers(row.getKey()))
                        .map(Map.Entry::getValue)
                        .toList();
        printMean("planned / 0.27.0, floats", floats, Row::planned);
        printMean("one line / 0.27.0, floats", floats, Row::oneLine);
        printMean("one line / XNNPACK by hand", List.copyOf(rows.values()), Row::againstHand);
    }

    /**
     * Two JVMs that do the same show the noise of the ratios; XNNPACK by hand in DJL shows the cost
     * of DJL's predictor and arrays, which every model has.
     */
    @Test
    void printBesideByHand() throws Exception {
        Map<Path, List<Beside>> rows = new TreeMap<>();
        List<Path> models = models();
        Path small = copyOf(BudgetModels.TINY_RESNET.file());
        for (int set = 0; set < SETS; set++) {
            try (Players players =
                    new Players(
                            List.of(
                                    Way.ONE_LINE,
                                    Way.BY_HAND,
                                    Way.BY_HAND_IN_DJL,
                                    Way.BY_HAND_TOO))) {
                players.warmUp(small, 1);
                for (Path model : models) {
                    String unused = players.load(model, 1);
                    rows.computeIfAbsent(model, m -> new ArrayList<>())
                            .add(Beside.of(players.play(model)));
                }
            }
        }
        print("DJL %s, one thread, / XNNPACK by hand%n", Engine.getDjlVersion());
        print("%-40s %9s %9s %9s%n", "model", "one line", "in DJL", "by hand");
        rows.forEach(
                (model, sets) ->
                        print(
                                "%-40s %9.3f %9.3f %9.3f%n",
                                model.getFileName(),
                                median(sets.stream().map(Beside::oneLine).toList()),
                                median(sets.stream().map(Beside::oneLineInDjl).toList()),
                                median(sets.stream().map(Beside::byHand).toList())));
        printMean("one line / by hand", List.copyOf(rows.values()), Beside::oneLine);
        printMean("one line / by hand in DJL", List.copyOf(rows.values()), Beside::oneLineInDjl);
        printMean("by hand / by hand", List.copyOf(rows.values()), Beside::byHand);
    }

    /** Prints the geometric mean over models, with its interval over the sets of JVMs. */
    private static <T> void printMean(String name, List<List<T>> rows, ToDoubleFunction<T> column) {
        List<Double> logs = new ArrayList<>();
        for (int set = 0; set < SETS; set++) {
            int jvms = set;
            logs.add(
                    rows.stream()
                            .mapToDouble(row -> Math.log(column.applyAsDouble(row.get(jvms))))
                            .average()
                            .orElseThrow());
        }
        Stats stats = Stats.of(logs);
        double reach = STUDENT * stats.sampleStandardDeviation() / Math.sqrt(SETS);
        print(
                "%-28s geometric mean %.3f, 95 %% interval %.3f to %.3f%n",
                name,
                Math.exp(stats.mean()),
                Math.exp(stats.mean() - reach),
                Math.exp(stats.mean() + reach));
    }

    /**
     * Returns copies in separate folders, because results of measurements are stored beside models.
     */
    private List<Path> models() throws IOException {
        List<Path> copies = new ArrayList<>();
        for (Path model :
                Stream.concat(
                                RealModels.TFLITE.present().stream(),
                                BUILT.stream().map(TestModels::built))
                        .toList()) {
            if (!model.getFileName().toString().startsWith("selfie_")) {
                copies.add(copyOf(model));
            }
        }
        return copies;
    }

    private Path copyOf(Path model) throws IOException {
        Path own = Files.createTempDirectory(folder, "model");
        return Files.copy(model, own.resolve(model.getFileName()));
    }

    private static boolean isOfIntegers(Path model) {
        return model.toString().contains("_int8");
    }

    /** A JVM for each way to run models. */
    private static final class Players implements AutoCloseable {

        private final Map<Way, ChildProcess> processes = new EnumMap<>(Way.class);
        private final ImmutableList<Way> ways;

        /**
         * @param ways how to run models of floats
         */
        Players(List<Way> ways) throws IOException {
            this.ways = ImmutableList.copyOf(ways);
            for (Way way : ways) {
                processes.put(way, start(way));
            }
            if (ways.contains(Way.STOCK)) {
                processes.put(Way.BARE, start(Way.BARE));
            }
        }

        private static ChildProcess start(Way way) throws IOException {
            boolean old = way == Way.STOCK || way == Way.BARE;
            List<String> classPath =
                    old
                            ? VersionMatrix.classPath(VersionMatrix.WITH_OWN_ENGINE)
                            : ChildJvm.ownClassPath();
            Map<String, String> properties = new TreeMap<>();
            properties.put("ai.djl.offline", "true");
            properties.put("org.slf4j.simpleLogger.defaultLogLevel", "error");
            return ChildProcess.start(
                    new ProcessBuilder(
                            Stream.concat(
                                            JavaCommand.of(
                                                    JavaCommand.ofThisJvm(),
                                                    JVM,
                                                    properties,
                                                    String.join(File.pathSeparator, classPath))
                                                    .stream(),
                                            Stream.of(LatencyProgram.class.getName()))
                                    .toList()));
        }

        List<Way> ways(Path model) {
            return ways.stream()
                    .map(way -> way == Way.STOCK && isOfIntegers(model) ? Way.BARE : way)
                    .toList();
        }

        /** Loads a model, and returns which operators are delegated, and why. */
        String load(Path model, int threads) throws IOException, InterruptedException {
            String reason = "";
            for (Way way : ways(model)) {
                JsonObject request = new JsonObject();
                request.addProperty("model", model.toString());
                request.addProperty("file", model.toString());
                request.addProperty("way", way.name());
                request.addProperty("threads", threads);
                String text = ask(way, request).get("text").getAsString();
                reason = way == Way.ONE_LINE ? text : reason;
            }
            return reason;
        }

        /**
         * Predicts with a small model until Java's compiler has compiled the code that all models
         * use.
         */
        void warmUp(Path model, int threads) throws IOException, InterruptedException {
            String unused = load(model, threads);
            for (Way way : ways(model)) {
                double unusedMillis = millis(way, model, FIRST);
            }
        }

        /** Runs a model in turns, and returns the milliseconds of each way's rounds. */
        double[][] play(Path model) throws IOException, InterruptedException {
            List<Way> ways = ways(model);
            int[] counts = new int[ways.size()];
            for (int i = 0; i < counts.length; i++) {
                double millis = millis(ways.get(i), model, 1);
                int warmUp = (int) Math.min(WARM_UP, 1 + WARM_UP_MILLIS / millis);
                millis = millis(ways.get(i), model, warmUp);
                counts[i] = (int) Math.min(MOST_PER_ROUND, 1 + ROUND_MILLIS / millis);
            }
            double[][] times = new double[ways.size()][ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < counts.length; i++) {
                    int turn = (round % 2 == 0 ? i : counts.length - 1 - i) + round / 2;
                    int way = turn % counts.length;
                    times[way][round] = millis(ways.get(way), model, counts[way]);
                }
            }
            return times;
        }

        /** Returns the median of the last predictions of a turn of three seconds. */
        double endOfTurn(Way way, Path model) throws IOException, InterruptedException {
            double millis = millis(way, model, 2);
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < TURN_NANOS) {
                int count = (int) Math.max(1, Math.min(MOST_PER_ROUND, ROUND_MILLIS / millis));
                millis = millis(way, model, count);
            }
            return millis(way, model, (int) (1 + LAST_MILLIS / millis));
        }

        /** Returns the median of some predictions. */
        private double millis(Way way, Path model, int count)
                throws IOException, InterruptedException {
            JsonObject request = new JsonObject();
            request.addProperty("model", model.toString());
            request.addProperty("count", count);
            return Quantiles.median()
                            .compute(
                                    ask(way, request).getAsJsonArray("nanos").asList().stream()
                                            .map(JsonElement::getAsLong)
                                            .toList())
                    / 1e6;
        }

        private JsonObject ask(Way way, JsonObject request)
                throws IOException, InterruptedException {
            Answer answer = processes.get(way).ask(request, PATIENCE);
            if (answer instanceof Answer.Result result) {
                return result.value().getAsJsonObject();
            }
            throw new IOException(way + ": " + answer + processes.get(way).lastErrorLines());
        }

        @Override
        public void close() {
            processes.values().forEach(ChildProcess::close);
        }
    }

    private static double ratio(double[] ours, double[] others) {
        double[] ratios = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            ratios[i] = ours[i] / others[i];
        }
        return Quantiles.median().compute(ratios);
    }

    private static double median(List<Double> values) {
        return Quantiles.median().compute(values);
    }

    private static void print(String format, Object... arguments) {
        OUT.printf(Locale.ROOT, format, arguments);
    }
}
