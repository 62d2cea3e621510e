package org.djlplan.delegation.internal;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Streams;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.delegation.internal.profile.ProfileSettings;
import org.djlplan.delegation.internal.table.Entry;
import org.djlplan.delegation.internal.table.Goal;
import org.djlplan.delegation.internal.table.ProfileTable;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.report.OutputAgreement;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.spi.UnusableOptionException;

/**
 * A request for a choice: the model, and the goal.
 *
 * @param model the model
 * @param goal of the choice
 * @param threads the numbers of threads to choose from, in ascending order
 * @param budget time limit of measuring; empty for one that depends on the model's latency
 * @param tolerance for the outputs
 * @param excluded operators that the delegate is not offered
 */
record Request(
        DelegableModel model,
        Goal goal,
        List<Integer> threads,
        Optional<Duration> budget,
        Tolerance tolerance,
        SortedSet<Integer> excluded) {

    /** Assumed for a time limit that depends on the model. */
    private static final Duration LONG = Duration.ofSeconds(30);

    Request {
        threads = ImmutableList.copyOf(threads);
    }

    /**
     * Returns the request that options describe.
     *
     * @throws UnusableOptionException if they name something that the model does not have
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

    /** Returns the settings of measuring. */
    ProfileSettings settings(boolean exhaustive) {
        return new ProfileSettings(
                goal, threads, budget, tolerance, model.offersTransientBuffers(), exhaustive);
    }

    /** Returns an upper estimate of the duration of measuring. */
    Duration longest() {
        return budget.orElse(LONG);
    }

    /**
     * Returns the CPU kernels as they run without delegation, used as long as nothing was measured.
     */
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
     * Returns the choice of a table for a pinned job: its candidate with the fewest threads, which
     * is never slow beside other work.
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

    /** Returns the choice of a verified and clearly better set, before the best is found. */
    DelegationChoice verified(Entry.Measured entry) {
        return new DelegationChoice(
                entry.candidate(),
                List.of(),
                DelegationChoice.Origin.VERIFIED,
                "everything that the delegate supports, while other sets are measured",
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
