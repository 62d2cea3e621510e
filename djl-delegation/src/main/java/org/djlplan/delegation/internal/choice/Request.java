package org.djlplan.delegation.internal.choice;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.OutputAgreement;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Streams;

/**
 * A request for a choice: what is measured, what a stored table must match, and how a table becomes
 * a choice.
 *
 * @param graph of the model
 * @param goal of the choice
 * @param threads the numbers of threads to choose from, in ascending order, without duplicates; −1
 *     for the engine's default
 * @param budget time limit of measuring; empty for {@link #BASE} plus the time of {@value
 *     #INFERENCES} inferences in the CPU kernels. Required and running steps may exceed it: the CPU
 *     kernels, everything delegated, and three turns for the candidates that may be the best
 * @param tolerance for the outputs
 * @param transientBuffers whether the delegate can build its buffers for each prediction; such
 *     candidates are tried only if the goal asks for memory
 * @param excluded operators that the delegate is not offered
 */
public record Request(
        Graph graph,
        Goal goal,
        List<Integer> threads,
        Optional<Duration> budget,
        Tolerance tolerance,
        boolean transientBuffers,
        Set<Integer> excluded) {

    /** Time limit independent of the model's speed. */
    public static final Duration BASE = Duration.ofSeconds(7);

    /** Number of CPU kernel inferences whose time is added to the limit. */
    public static final int INFERENCES = 40;

    /** Assumed for a time limit that depends on the model. */
    private static final Duration LONG = Duration.ofSeconds(30);

    public Request {
        threads = ImmutableList.copyOf(ImmutableSet.copyOf(threads));
        excluded = ImmutableSet.copyOf(excluded);
        checkArgument(!threads.isEmpty(), "no setting of threads");
        checkArgument(threads.stream().allMatch(t -> t == -1 || t > 0), "threads: %s", threads);
        checkArgument(budget.isEmpty() || budget.get().toNanos() > 0, "budget: %s", budget);
    }

    /** Creates a request that excludes nothing, for a delegate that always keeps its buffers. */
    public Request(
            Graph graph,
            Goal goal,
            List<Integer> threads,
            Optional<Duration> budget,
            Tolerance tolerance) {
        this(graph, goal, threads, budget, tolerance, false, ImmutableSet.of());
    }

    /** Returns the rule by which candidates may serve. */
    public Entry.Acceptance acceptance() {
        return Entry.Acceptance.of(graph, tolerance);
    }

    /** Returns whether candidates that build their buffers for each prediction are tried. */
    public boolean triesTransientBuffers() {
        return transientBuffers && goal.asksForMemory();
    }

    /** Returns an upper estimate of the duration of measuring. */
    public Duration longest() {
        return budget.orElse(LONG);
    }

    /**
     * Returns the CPU kernels as they run without delegation, used as long as nothing was measured.
     */
    public Candidate unmeasured() {
        return Candidate.cpu(threads.size() == 1 ? threads.get(0) : -1);
    }

    /** Returns {@link #unmeasured} as a choice. */
    public DelegationChoice cpu(String why) {
        return new DelegationChoice(
                unmeasured(), DelegationReport.Origin.UNVERIFIED, "CPU kernels: " + why);
    }

    /** Returns the choice of a table. */
    public DelegationChoice choice(ProfileTable table, DelegationReport.Origin origin) {
        String caveat = table.caveat().map(" (%s)"::formatted).orElse("");
        return new DelegationChoice(
                table.chosen(),
                table.lighter(),
                origin,
                table.reason() + caveat,
                table.measured(table.chosen()).map(this::agreements).orElse(List.of()));
    }

    /**
     * Returns the choice of a table for a pinned job: its candidate with the fewest threads, which
     * is never slow beside other work.
     */
    public DelegationChoice pinned(ProfileTable table) {
        DelegationChoice all = choice(table, DelegationReport.Origin.STORED);
        Candidate one = all.lightest();
        return new DelegationChoice(
                one,
                List.of(),
                all.origin(),
                all.reason() + "; pinned",
                table.measured(one).map(this::agreements).orElse(List.of()));
    }

    /** Returns the choice of a verified and clearly better set, before the best is found. */
    public DelegationChoice verified(Entry.Measured entry) {
        return new DelegationChoice(
                entry.candidate(),
                List.of(),
                DelegationReport.Origin.VERIFIED,
                "everything that the delegate supports, while other sets are measured",
                agreements(entry));
    }

    private List<OutputAgreement> agreements(Entry.Measured entry) {
        if (!entry.candidate().delegates()) {
            return List.of();
        }
        return Streams.zip(
                        graph.outputs().stream().map(id -> graph.tensors().get(id).name()),
                        entry.errors().stream(),
                        (name, error) ->
                                OutputAgreement.of(
                                        name,
                                        error.difference(),
                                        error.noise().largest(),
                                        tolerance.limit(error)))
                .toList();
    }
}
