package org.djlplan.delegation.profile;

import ai.djl.util.Progress;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.function.LongSupplier;
import org.djlplan.delegation.choice.Contender;
import org.djlplan.delegation.choice.Forecast;
import org.djlplan.delegation.choice.Preference;
import org.djlplan.delegation.table.Entry;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;

/**
 * Finds with few runs which operators of a model to delegate.
 *
 * <ol>
 *   <li>Explore: node times of two candidates, sometimes of four, give a prediction for any union
 *       of units, for each setting of threads ({@link Explorer}).
 *   <li>Prove: the best few by prediction are run and their outputs compared with the CPU kernels'
 *       ({@link Shortlist}).
 *   <li>Race: they are timed in turns against each other, nothing and everything delegated, until
 *       one is left or no difference can be found ({@link org.djlplan.delegation.choice.Race}).
 *       Then the simplest wins.
 * </ol>
 */
public final class Profiler {

    /** A tenth of what it takes to measure each union of partitions a hundred times. */
    private static final double INFERENCES_PER_UNION = 10;

    /** That of three partitions, for less. */
    private static final double FEWEST_INFERENCES = 70;

    private final Graph graph;
    private final CandidateRunner runner;
    private final ProfileSettings settings;
    private final Budget budget;
    private final Preference preference;
    private final Trials trials;
    private final Shortlist shortlist;
    private final List<Forecast> forecasts = new ArrayList<>();

    private Profiler(Graph graph, CandidateRunner runner, ProfileSettings settings, Budget budget) {
        this.graph = graph;
        this.runner = runner;
        this.settings = settings;
        this.budget = budget;
        this.preference = new Preference(settings.goal());
        this.trials = new Trials(runner, settings.tolerance(), budget);
        this.shortlist = new Shortlist(trials, preference, budget);
    }

    /**
     * Measures and chooses. What fails is an entry of the table; if nothing can be measured, the
     * CPU kernels are chosen.
     *
     * @param graph of the model
     * @param runner of its candidates; not closed
     * @param settings what is to be found
     * @param progress told the percent of the budget that is spent
     * @throws InterruptedException if the thread is interrupted
     */
    public static ProfileTable profile(
            Graph graph,
            CandidateRunner runner,
            ProfileSettings settings,
            Optional<Progress> progress)
            throws InterruptedException {
        return profile(graph, runner, settings, progress, runner::workedNanos);
    }

    static ProfileTable profile(
            Graph graph,
            CandidateRunner runner,
            ProfileSettings settings,
            Optional<Progress> progress,
            LongSupplier clock)
            throws InterruptedException {
        Budget budget = new Budget(clock, settings.budget(), progress);
        budget.begin("Profiling " + graph.name());
        try {
            return new Profiler(graph, runner, settings, budget).table();
        } finally {
            budget.end();
        }
    }

    private ProfileTable table() throws InterruptedException {
        List<SortedSet<Integer>> partitions;
        try {
            partitions =
                    runner.partitions().stream()
                            .<SortedSet<Integer>>map(ImmutableSortedSet::copyOf)
                            .collect(ImmutableList.toImmutableList());
        } catch (CandidateException e) {
            return cpu(
                    List.of(), "the CPU kernels: the delegate cannot be asked: " + e.getMessage());
        }
        if (partitions.isEmpty() && settings.threads().size() == 1) {
            return cpu(
                    partitions, "the CPU kernels: the delegate supports no operator of the model");
        }
        List<Contender> contenders =
                settings.exhaustive()
                        ? new Exhaustive(trials, preference, budget)
                                .measure(graph, partitions, settings.threads())
                        : promising(partitions);
        return choose(partitions, contenders);
    }

    private List<Contender> promising(List<SortedSet<Integer>> partitions)
            throws InterruptedException {
        Explorer explorer = new Explorer(graph, partitions, trials, preference, budget);
        for (int threads : settings.threads()) {
            explorer.explore(threads).ifPresent(forecasts::add);
        }
        double unions = forecasts.stream().mapToDouble(f -> Math.pow(2, f.units())).sum();
        budget.allow(Math.max(FEWEST_INFERENCES, INFERENCES_PER_UNION * unions));
        shortlist.prove(forecasts);
        return trials.proven();
    }

    private ProfileTable choose(List<SortedSet<Integer>> partitions, List<Contender> contenders)
            throws InterruptedException {
        Reason reason = new Reason(graph, partitions, settings.threads().size() > 1, preference);
        if (preference.goal().maxMemoryBytes().isPresent()
                && !contenders.isEmpty()
                && contenders.stream().allMatch(c -> c.memoryBytes() == 0)) {
            return cpu(partitions, "the CPU kernels: memory cannot be measured here");
        }
        Optional<Contender> winner = new Rounds(trials, preference, budget).race(contenders);
        while (!settings.exhaustive() && trials.failedWhenTimed() && budget.spent() < 1) {
            // It may have been what others were not tried for.
            shortlist.prove(forecasts);
            winner = new Rounds(trials, preference, budget).race(trials.proveAgain());
        }
        List<Entry> entries = trials.entries();
        Optional<Entry.Measured> chosen = winner.flatMap(w -> trials.measured(w.candidate()));
        if (chosen.isPresent()) {
            String line = reason.of(chosen.get(), entries) + leftOut(partitions);
            return table(partitions, chosen.get().candidate(), line);
        }
        boolean over = !contenders.isEmpty() && contenders.stream().noneMatch(preference::admits);
        return cpu(
                partitions,
                over
                        ? "the CPU kernels: nothing keeps to the limit of memory, not even they"
                        : "the CPU kernels: nothing could be measured" + reason.rejected(entries));
    }

    private String leftOut(List<SortedSet<Integer>> partitions) {
        int most = Exhaustive.MOST_PARTITIONS;
        return settings.exhaustive() && partitions.size() > most
                ? "; only the " + most + " largest partitions were tried"
                : "";
    }

    private ProfileTable cpu(List<SortedSet<Integer>> partitions, String reason) {
        return table(partitions, Candidate.cpu(settings.threads().get(0)), reason);
    }

    private ProfileTable table(
            List<SortedSet<Integer>> partitions, Candidate chosen, String reason) {
        return new ProfileTable(
                partitions,
                trials.entries(),
                chosen,
                reason,
                budget.inferences(),
                budget.elapsedNanos());
    }
}
