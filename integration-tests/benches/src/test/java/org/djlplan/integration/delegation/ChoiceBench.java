package org.djlplan.integration.delegation;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.delegation.internal.profile.Profiler;
import org.djlplan.integration.bench.Rounds;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.measure.TfLiteDelegableModel;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.Tolerance;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares djl-plan's choice, which takes few runs, with the best result of an exhaustive search
 * over all unions of partitions. Both are then timed in turns. Prints a table; asserts nothing,
 * because machines are noisy.
 */
@Tag("bench")
class ChoiceBench {

    private static final Duration EXHAUSTIVE_BUDGET = Duration.ofSeconds(30);

    /** The published study also ran each union this often. */
    private static final int RUNS_PER_UNION = 100;

    private static final int FINAL_ROUNDS = 61;
    private static final int PROFILES = 3;
    private static final double MILLION = 1e6;
    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    @TempDir Path folder;

    @Test
    void print() throws Exception {
        StockInterpreter.loadEngine();
        print(
                "%-26s %7s %10s %10s %10s %9s %8s %8s%n",
                "model",
                "threads",
                "partitions",
                "best ms",
                "chosen ms",
                "/ best",
                "runs",
                "% of all");
        List<Path> models = new ArrayList<>();
        List.of("uneven_7").forEach(name -> models.add(TestModels.built(name)));
        Stream.of("onet", "FaceAntiSpoofing", "pnet")
                .map(RealModels.TFLITE::file)
                .filter(Files::isRegularFile)
                .forEach(models::add);
        for (Path file : models) {
            for (int threads : new int[] {1, 2}) {
                compare(file, threads);
            }
        }
    }

    private void compare(Path file, int threads) throws Exception {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.getFileName().toString());
        TfLiteDelegableModel model =
                new TfLiteDelegableModel(
                        file,
                        FileIdentity.text(file),
                        graph,
                        folder,
                        Served.options(Map.of()),
                        EngineLibrary.loaded());
        ProfileTable all;
        try (CandidateRunner runner = model.newProcess(Urgency.AWAITED, Tolerance.AUTO)) {
            all = profile(graph, runner, threads, Optional.of(EXHAUSTIVE_BUDGET), true);
        }
        Candidate best = fastest(all);
        for (int i = 0; i < PROFILES; i++) {
            try (CandidateRunner runner = model.newProcess(Urgency.AWAITED, Tolerance.AUTO)) {
                ProfileTable few = profile(graph, runner, threads, Optional.empty(), false);
                Rounds rounds =
                        new Rounds()
                                .add("best", times -> runner.time(best, 1)[0] / MILLION)
                                .add("chosen", times -> runner.time(few.chosen(), 1)[0] / MILLION)
                                .run(FINAL_ROUNDS, 0, 1);
                double runsOfAll = Math.pow(2, few.partitions().size()) * RUNS_PER_UNION;
                print(
                        "%-26s %7d %10d %10.3f %10.3f %9.3f %8d %8.1f%n",
                        file.getFileName(),
                        threads,
                        few.partitions().size(),
                        rounds.median("best"),
                        rounds.median("chosen"),
                        rounds.ratio("chosen", "best"),
                        few.inferences(),
                        100 * few.inferences() / runsOfAll);
            }
        }
    }

    private static ProfileTable profile(
            Graph graph,
            CandidateRunner runner,
            int threads,
            Optional<Duration> budget,
            boolean exhaustive)
            throws InterruptedException {
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.empty());
        Request request = new Request(graph, goal, List.of(threads), budget, Tolerance.AUTO);
        return exhaustive
                ? Profiler.profileAll(request, runner, Optional.empty(), early -> {})
                : Profiler.profile(request, runner, Optional.empty(), early -> {});
    }

    private static Candidate fastest(ProfileTable table) {
        return table.entries().stream()
                .filter(Entry.Measured.class::isInstance)
                .map(Entry.Measured.class::cast)
                .min(Comparator.comparingLong(entry -> entry.latency().medianNanos()))
                .orElseThrow()
                .candidate();
    }

    private static void print(String format, Object... arguments) {
        OUT.print(String.format(Locale.ROOT, format, arguments));
    }
}
