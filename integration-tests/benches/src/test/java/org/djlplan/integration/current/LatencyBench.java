package org.djlplan.integration.current;

import ai.djl.engine.Engine;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.djlplan.integration.bench.Rounds;
import org.djlplan.integration.current.LatencyProgram.Way;
import org.djlplan.integration.networks.HardNetworks;
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
 * Compares ways to run TensorFlow Lite models, on DJL 0.27.0 with its own engine and on current DJL
 * with djl-plan's: stock, planned, the one line with delegation, and XNNPACK enabled by hand for
 * all operators. Separate JVMs take turns, a few predictions each. Prints tables; asserts nothing,
 * because machines are noisy.
 *
 * <p>{@code -Ddjlplan.bench.fresh=N} starts N sets of JVMs, one after another; {@code
 * -Ddjlplan.bench.models=NAME,NAME} measures only these models.
 */
@Tag("bench")
@Tag("djl-current")
class LatencyBench {

    private static final int SETS = Integer.getInteger("djlplan.bench.fresh", 5);
    private static final int ROUNDS = 11;
    private static final double ROUND_MILLIS = 20;
    private static final int MOST_PER_ROUND = 200;

    /**
     * Before the rounds, the first predictions of a delegated model are compared in the background.
     */
    private static final double WARM_UP_MILLIS = 300;

    /**
     * Predictions of a small model, after which Java's compiler has compiled the code that
     * predicts.
     */
    private static final int FIRST = 20_000;

    /** How often a turn runs if no number of threads is set, so that it takes two seconds. */
    private static final double LONG_ROUND_MILLIS = 2_000;

    private static final int LOADS = 11;

    /** Student's quantiles of 97.5 %, by the number of sets less two. */
    private static final double[] STUDENT = {12.71, 4.303, 3.182, 2.776};

    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private static final ImmutableList<String> JVM =
            ImmutableList.of("-Xms128m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:+AlwaysPreTouch");

    private static final ImmutableList<String> BUILT =
            ImmutableList.of("mobilenet_v1", "mobilenet_v2", "inception", "mobilenet_v2_int8");

    private static final String CHOSEN = System.getProperty("djlplan.bench.models", "");

    @TempDir Path folder;

    /** A JVM, and how it runs models. */
    private record Player(String name, Way way, boolean onFirstDjl) {

        static Player of(Way way) {
            return new Player(way.name(), way, false);
        }

        static Player first(Way way) {
            return new Player("0.27.0 " + way, way, true);
        }
    }

    private static final Player STOCK = Player.first(Way.STOCK);
    private static final Player BARE = Player.first(Way.BARE);
    private static final Player HAND = Player.of(Way.BY_HAND);

    /** Memory planning alone on DJL 0.27.0, also its arenas. */
    @Test
    void printPlanned() throws Exception {
        print(1, BARE, Player.first(Way.PLANNED));
        print(2, BARE, Player.first(Way.PLANNED));
    }

    /** Delegation on DJL 0.27.0. */
    @Test
    void printAgainstHand() throws Exception {
        Player hand = Player.first(Way.BY_HAND_IN_DJL);
        print(1, hand, Player.first(Way.ONE_LINE), BARE);
        print(2, hand, Player.first(Way.ONE_LINE), BARE);
    }

    @Test
    void printOnOneThread() throws Exception {
        print(1, STOCK, Player.of(Way.PLANNED), Player.of(Way.ONE_LINE), HAND);
    }

    @Test
    void printOnTwoThreads() throws Exception {
        print(2, STOCK, Player.of(Way.PLANNED), Player.of(Way.ONE_LINE), HAND);
    }

    /**
     * Two JVMs that do the same show the noise of the ratios; XNNPACK by hand in DJL shows the cost
     * of DJL's predictor and arrays, which every model has.
     */
    @Test
    void printBesideByHand() throws Exception {
        print(
                1,
                HAND,
                new Player("BY_HAND too", Way.BY_HAND, false),
                Player.of(Way.BY_HAND_IN_DJL),
                Player.of(Way.ONE_LINE));
    }

    /**
     * Sets no number of threads: DJL's engine uses its default, and the one line as many threads as
     * make it faster while processors are idle, which it observes for a second. So turns are long.
     */
    @Test
    void printAsTheyCome() throws Exception {
        print(LatencyProgram.AS_IT_COMES, STOCK, Player.of(Way.ONE_LINE));
    }

    /** The time of a load, if earlier measurements are stored. */
    @Test
    void printLoads() throws Exception {
        print("%n%-34s %12s %12s %12s%n", "load, ms on DJL 0.27.0", "stock", "planned", "one line");
        List<Player> players =
                List.of(STOCK, Player.first(Way.PLANNED), Player.first(Way.ONE_LINE));
        try (Players all = new Players(players)) {
            for (Path model : models()) {
                print("%-34s", model.getFileName());
                for (Player player : players) {
                    double[] millis = new double[LOADS];
                    for (int i = 0; i < LOADS; i++) {
                        millis[i] = all.load(player, model, 1).get("millis").getAsDouble();
                    }
                    print(" %12.2f", Quantiles.median().compute(millis));
                }
                print("%n");
            }
        }
    }

    /** Prints milliseconds of the first player, and what others take in relation to it. */
    private void print(int threads, Player... given) throws Exception {
        List<Player> players = List.of(given);
        boolean asItComes = threads == LatencyProgram.AS_IT_COMES;
        int sets = asItComes ? 1 : SETS;
        double roundMillis = asItComes ? LONG_ROUND_MILLIS : ROUND_MILLIS;
        List<Path> models = models();
        Path small = copyOf(BudgetModels.TINY_RESNET.file());
        Map<Path, List<Rounds>> rows = new TreeMap<>();
        Map<Path, String> texts = new TreeMap<>();
        for (int set = 0; set < sets; set++) {
            try (Players all = new Players(players)) {
                for (Player player : players) {
                    JsonObject unused = all.load(player, small, threads);
                    double unusedMillis = all.millis(player, small, FIRST);
                }
                for (Path model : models) {
                    StringBuilder text = new StringBuilder();
                    for (Player player : players) {
                        text.append(all.load(player, model, threads).get("text").getAsString());
                    }
                    texts.putIfAbsent(model, text.toString());
                    Rounds rounds = new Rounds();
                    for (Player player : players) {
                        all.warmUp(player, model);
                        rounds.add(player.name, times -> all.millis(player, model, times));
                    }
                    rows.computeIfAbsent(model, any -> new ArrayList<>())
                            .add(
                                    rounds.run(
                                            asItComes ? 3 : ROUNDS,
                                            roundMillis,
                                            asItComes ? Integer.MAX_VALUE : MOST_PER_ROUND));
                }
            }
        }
        print(
                "%nDJL %s, %s thread(s), medians of %d sets of JVMs: ms, then ratios to it%n",
                Engine.getDjlVersion(), asItComes ? "as they come" : threads, sets);
        print("%-34s", "model");
        players.forEach(player -> print(" %14s", player.name));
        print("%n");
        rows.forEach(
                (model, all) -> {
                    print("%-34s", model.getFileName());
                    for (Player player : players) {
                        boolean isFirst = player.name.equals(given[0].name);
                        print(
                                isFirst ? " %14.3f" : " %14.4f",
                                median(
                                        all.stream()
                                                .map(
                                                        r ->
                                                                isFirst
                                                                        ? r.median(player.name)
                                                                        : r.ratio(
                                                                                player.name,
                                                                                given[0].name))));
                    }
                    print("  %s%n", texts.get(model));
                });
        List<List<Rounds>> floats =
                rows.entrySet().stream()
                        .filter(row -> !isOfIntegers(row.getKey()))
                        .map(Map.Entry::getValue)
                        .toList();
        for (Player player : players.subList(1, players.size())) {
            printMean(sets, floats, player.name, given[0].name);
        }
        if (players.contains(HAND) && players.contains(Player.of(Way.ONE_LINE))) {
            printMean(sets, List.copyOf(rows.values()), Way.ONE_LINE.name(), HAND.name);
        }
    }

    /** Prints the geometric mean over models, with its interval over the sets of JVMs. */
    private static void printMean(
            int sets, List<List<Rounds>> rows, String player, String reference) {
        List<Double> logs = new ArrayList<>();
        for (int set = 0; set < sets; set++) {
            int jvms = set;
            logs.add(
                    rows.stream()
                            .mapToDouble(row -> Math.log(row.get(jvms).ratio(player, reference)))
                            .average()
                            .orElse(Double.NaN));
        }
        Stats stats = Stats.of(logs);
        double reach =
                sets < 2
                        ? 0
                        : STUDENT[Math.min(sets, STUDENT.length + 1) - 2]
                                * stats.sampleStandardDeviation()
                                / Math.sqrt(sets);
        print(
                "%-40s geometric mean %.3f, 95 %% interval %.3f to %.3f%n",
                player + " / " + reference,
                Math.exp(stats.mean()),
                Math.exp(stats.mean() - reach),
                Math.exp(stats.mean() + reach));
    }

    /**
     * Returns copies in separate folders, because results of measurements are stored beside models.
     */
    private List<Path> models() throws IOException {
        Stream<Path> built =
                Stream.concat(BUILT.stream(), HardNetworks.large().stream()).map(TestModels::built);
        List<Path> copies = new ArrayList<>();
        for (Path model : Stream.concat(RealModels.TFLITE.present().stream(), built).toList()) {
            String name = model.getFileName().toString().replace(".tflite", "");
            if (CHOSEN.isEmpty()
                    ? !name.startsWith("selfie_")
                    : List.of(CHOSEN.split(",", -1)).contains(name)) {
                copies.add(copyOf(model));
            }
        }
        return copies;
    }

    private Path copyOf(Path model) throws IOException {
        Path own = Files.createTempDirectory(folder, "model");
        return Files.copy(model, own.resolve(model.getFileName()));
    }

    /** DJL 0.27.0 has no arrays of 8 bits. */
    private static boolean isOfIntegers(Path model) {
        return model.toString().contains("_int8");
    }

    /** The JVMs of some players. */
    private static final class Players implements AutoCloseable {

        private final Map<Player, ChildProcess> processes = new LinkedHashMap<>();

        Players(List<Player> players) throws IOException {
            for (Player player : players) {
                processes.put(player, start(player));
            }
        }

        private static ChildProcess start(Player player) throws IOException {
            List<String> classPath =
                    player.onFirstDjl
                            ? VersionMatrix.classPath(VersionMatrix.WITH_OWN_ENGINE)
                            : ChildJvm.ownClassPath();
            Map<String, String> properties =
                    Map.of(
                            "ai.djl.offline", "true",
                            "org.slf4j.simpleLogger.defaultLogLevel", "error");
            List<String> command =
                    new ArrayList<>(
                            JavaCommand.of(
                                    JavaCommand.ofThisJvm(),
                                    JVM,
                                    properties,
                                    String.join(File.pathSeparator, classPath)));
            command.add(LatencyProgram.class.getName());
            return ChildProcess.start(new ProcessBuilder(command), line -> {});
        }

        /** Loads a model; returns a text about it, and how long the load took. */
        JsonObject load(Player player, Path model, int threads)
                throws IOException, InterruptedException {
            Way way = player.way == Way.STOCK && isOfIntegers(model) ? Way.BARE : player.way;
            JsonObject request = new JsonObject();
            request.addProperty("file", model.toString());
            request.addProperty("way", way.name());
            request.addProperty("threads", threads);
            return ask(player, request);
        }

        /** Predicts for {@link #WARM_UP_MILLIS}, or as often as in a round. */
        void warmUp(Player player, Path model) throws Exception {
            double each = millis(player, model, 3);
            int times = (int) Math.min(MOST_PER_ROUND, WARM_UP_MILLIS / each);
            double unused = millis(player, model, Math.max(1, times));
        }

        /** Returns the median of some predictions. */
        double millis(Player player, Path model, int count)
                throws IOException, InterruptedException {
            JsonObject request = new JsonObject();
            request.addProperty("predict", model.toString());
            request.addProperty("count", count);
            return Quantiles.median()
                            .compute(
                                    ask(player, request).getAsJsonArray("nanos").asList().stream()
                                            .map(JsonElement::getAsLong)
                                            .toList())
                    / 1e6;
        }

        private JsonObject ask(Player player, JsonObject request)
                throws IOException, InterruptedException {
            Answer answer = processes.get(player).ask(request, PATIENCE);
            if (answer instanceof Answer.Result result) {
                return result.value().getAsJsonObject();
            }
            throw new IOException(player + ": " + answer + processes.get(player).lastErrorLines());
        }

        @Override
        public void close() {
            processes.values().forEach(ChildProcess::close);
        }
    }

    private static double median(Stream<Double> values) {
        return Quantiles.median().compute(values.toList());
    }

    private static void print(String format, Object... arguments) {
        System.out.printf(Locale.ROOT, format, arguments);
    }
}
