package org.djlplan.integration.delegation;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.delegation.internal.choice.Units;
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
import org.djlplan.thirdparty.guava.collect.Sets;
import org.djlplan.thirdparty.guava.math.Quantiles;
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

    /** Number of timed inferences of each union. */
    private static final int TIMED = 20;

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
                        EngineLibrary.loaded(),
                        Optional.empty());
        Candidate best;
        try (CandidateRunner runner = model.newProcess(Urgency.AWAITED, Tolerance.AUTO)) {
            best = fastest(graph, runner, threads);
        }
        for (int i = 0; i < PROFILES; i++) {
            try (CandidateRunner runner = model.newProcess(Urgency.AWAITED, Tolerance.AUTO)) {
                ProfileTable few = profile(graph, runner, threads);
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

    private static ProfileTable profile(Graph graph, CandidateRunner runner, int threads)
            throws InterruptedException {
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.empty());
        return Profiler.profile(
                new Request(graph, goal, List.of(threads), Optional.empty(), Tolerance.AUTO),
                runner,
                Optional.empty(),
                early -> {});
    }

    /** Returns the fastest of the unions of partitions that can be timed in the time. */
    private static Candidate fastest(Graph graph, CandidateRunner runner, int threads)
            throws Exception {
        Units units = Units.of(graph, runner.partitions());
        long end = System.nanoTime() + EXHAUSTIVE_BUDGET.toNanos();
        Candidate fastest = Candidate.cpu(threads);
        double least = Double.MAX_VALUE;
        for (Set<Integer> union : Sets.powerSet(units.indices())) {
            Candidate candidate = new Candidate(units.operators(union), threads);
            if (System.nanoTime() < end
                    && Entry.accepts(
                            Tolerance.AUTO, candidate, runner.prepare(candidate).errors())) {
                double nanos = Quantiles.median().compute(runner.time(candidate, TIMED));
                fastest = nanos < least ? candidate : fastest;
                least = Math.min(least, nanos);
            }
            runner.release(candidate);
        }
        return fastest;
    }

    private static void print(String format, Object... arguments) {
        OUT.print(String.format(Locale.ROOT, format, arguments));
    }
}
