package org.djlplan.delegation;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Streams;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.delegation.profile.ProfileSettings;
import org.djlplan.delegation.table.Entry;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.report.OutputAgreement;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.spi.UnusableOptionException;

/**
 * A request for a choice: the model, and what the choice is to reach.
 *
 * @param model the model
 * @param goal what the choice is to reach
 * @param threads the numbers of threads to choose from, in ascending order
 * @param budget how long measuring may take; empty for as long as the model's latency asks for
 * @param tolerance by which outputs are judged
 * @param excluded operators of which the model's delegate is not offered anything
 */
record Request(
        DelegableModel model,
        Goal goal,
        List<Integer> threads,
        Optional<Duration> budget,
        Tolerance tolerance,
        SortedSet<Integer> excluded) {

    /** Of a budget that depends on the model it is not known how long it is. */
    private static final Duration LONG = Duration.ofSeconds(30);

    Request {
        threads = ImmutableList.copyOf(threads);
    }

    /**
     * Returns what options ask for.
     *
     * @throws UnusableOptionException if they name what the model does not have
     */
    static Request of(DelegableModel model, DelegationOptions options) {
        SortedSet<Integer> excluded = options.exclude().of(model.graph());
        return new Request(
                ReducedModel.of(model, excluded),
                options.goal(),
                DelegationOptions.threadCandidates(
                        model.threads(), Runtime.getRuntime().availableProcessors()),
                options.profileBudget(),
                options.tolerance(),
                excluded);
    }

    /** Returns what is to be found by measuring. */
    ProfileSettings settings(boolean exhaustive) {
        return new ProfileSettings(
                goal, threads, budget, tolerance, model.offersTransientBuffers(), exhaustive);
    }

    /** Returns how long measuring will take at most, or about that. */
    Duration longest() {
        return budget.orElse(LONG);
    }

    /** Returns the CPU kernels as they run without delegation: as long as nothing was measured. */
    Candidate unmeasured() {
        return Candidate.cpu(threads.size() == 1 ? threads.get(0) : -1);
    }

    /** Returns {@link #unmeasured} as a choice. */
    DelegationChoice cpu(String why) {
        return new DelegationChoice(
                unmeasured(), DelegationChoice.Origin.UNVERIFIED, "CPU kernels: " + why);
    }

    /** Returns the choice of a table. */
    DelegationChoice choice(ProfileTable table, DelegationChoice.Origin origin) {
        String caveat = table.caveat().map(" (%s)"::formatted).orElse("");
        return new DelegationChoice(
                table.chosen(),
                table.lighter(),
                origin,
                table.reason() + caveat,
                table.measured(table.chosen()).map(this::agreements).orElse(List.of()));
    }

    /**
     * Returns the choice of a table for a job that keeps to it: its candidate of the fewest
     * threads, which is never slow beside other work.
     */
    DelegationChoice pinned(ProfileTable table) {
        DelegationChoice all = choice(table, DelegationChoice.Origin.STORED);
        Candidate one = all.lightest();
        return new DelegationChoice(
                one,
                List.of(),
                all.origin(),
                all.reason() + "; pinned",
                table.measured(one).map(this::agreements).orElse(List.of()));
    }

    /** Returns the choice of a set that is right and clearly better, before the best is found. */
    DelegationChoice verified(Entry.Measured entry) {
        return new DelegationChoice(
                entry.candidate(),
                List.of(),
                DelegationChoice.Origin.VERIFIED,
                "all that the delegate takes, while others are measured",
                agreements(entry));
    }

    private List<OutputAgreement> agreements(Entry.Measured entry) {
        if (!entry.candidate().delegates()) {
            return List.of();
        }
        Graph graph = model.graph();
        return Streams.zip(
                        graph.outputs().stream().map(id -> graph.tensors().get(id).name()),
                        entry.errors().stream(),
                        (name, error) ->
                                new OutputAgreement(
                                        name,
                                        error.difference(),
                                        error.noise().largest(),
                                        tolerance.limit(error)))
                .toList();
    }
}
