package org.djlplan.delegation.internal.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.djlplan.delegation.internal.choice.LatencyModel;
import org.djlplan.delegation.internal.choice.MemoryModel;
import org.djlplan.delegation.internal.choice.Preference;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.delegation.internal.choice.Unions;
import org.djlplan.delegation.internal.choice.Unions.Union;
import org.djlplan.delegation.internal.partition.PieceGraph;
import org.djlplan.memplan.spi.Candidate;

/**
 * The candidates with the best predictions, verified one after another. After each candidate with
 * unexpected memory, the predictions are computed again.
 */
final class Shortlist {

    /** Number of raced candidates, besides nothing and everything delegated. */
    private static final int RACED = 5;

    /** Number of candidates tried to find these, because others fail, or take too much memory. */
    private static final int TRIED = 10;

    /** Number of examined predictions, to find simple ones among them. */
    private static final int LOOKED_AT = 50;

    /** Number of candidates tried even if little is left of the budget. */
    private static final int NEEDED = 2;

    /** The rest of the budget is for the race. */
    private static final double PART_OF_BUDGET = 0.35;

    private final Trials trials;
    private final Preference preference;
    private final TimeBudget budget;

    Shortlist(Trials trials, Preference preference, TimeBudget budget) {
        this.trials = trials;
        this.preference = preference;
        this.budget = budget;
    }

    /**
     * Verifies the best candidates of all forecasts. They always include the best one of fewer
     * partitions.
     */
    void prove(List<Forecast> forecasts) throws InterruptedException {
        List<Proposal> hopeful = hopeful(forecasts);
        int raced = 0;
        for (int i = 0; i < TRIED && raced < RACED; i++) {
            Optional<Proposal> next = next(hopeful, i == 1);
            if (next.isEmpty() || budget.spent() >= (i < NEEDED ? 1 : PART_OF_BUDGET)) {
                return;
            }
            Optional<Contender> proven = trials.prove(next.get().candidate());
            if (proven.isEmpty()) {
                hopeful = hopeful(forecasts);
            } else {
                raced += preference.admits(proven.get()) ? 1 : 0;
                if (preference.asksForMemory()) {
                    next.get().learn(proven.get().memoryBytes());
                    hopeful = hopeful(forecasts);
                }
            }
        }
    }

    private List<Proposal> hopeful(List<Forecast> forecasts) {
        List<Proposal> best = new ArrayList<>();
        for (Forecast forecast : forecasts) {
            best.addAll(forecast.best(LOOKED_AT, preference));
        }
        best.removeIf(proposal -> trials.rejected(proposal.candidate()));
        best.sort(Comparator.comparingDouble(Proposal::cost));
        return best.stream()
                .filter(p -> !preference.isTooFarFromBest(p.cost(), best.get(0).cost()))
                .toList();
    }

    private Optional<Proposal> next(List<Proposal> hopeful, boolean simpler) {
        List<Proposal> untried =
                hopeful.stream().filter(p -> !trials.tried(p.candidate())).toList();
        return untried.stream()
                .filter(p -> simpler && p.union().kernels() < hopeful.get(0).union().kernels())
                .findFirst()
                .or(() -> untried.stream().findFirst());
    }

    /**
     * The predicted costs of unions of a graph's pieces with one number of threads.
     *
     * @param pieces of the graph, at least one
     * @param threads of every candidate
     * @param transientBuffers whether every candidate builds its buffers for each prediction
     * @param latency of unions
     * @param memory of unions; updated with measurements
     */
    record Forecast(
            PieceGraph pieces,
            int threads,
            boolean transientBuffers,
            LatencyModel latency,
            MemoryModel memory) {

        /** Returns the best candidates by a preference, the best first. */
        private List<Proposal> best(int count, Preference preference) {
            return new Unions(pieces)
                    .best(count, union -> cost(union, preference)).stream()
                            .map(union -> proposal(union, preference))
                            .toList();
        }

        private Proposal proposal(Union union, Preference preference) {
            Candidate kept = new Candidate(pieces.operators(union.pieces()), threads);
            Candidate candidate =
                    transientBuffers && kept.delegates() ? kept.withTransientBuffers() : kept;
            return new Proposal(this, union, candidate, cost(union, preference));
        }

        private double cost(Union union, Preference preference) {
            return preference.predicted(
                    latency.nanos(union.pieces()),
                    memory.bytes(union.pieces(), union.kernels()),
                    union.kernels());
        }
    }

    /**
     * A candidate worth trying.
     *
     * @param forecast that predicts it
     * @param union its pieces
     * @param candidate its operators and threads
     * @param cost predicted cost by the preference
     */
    private record Proposal(Forecast forecast, Union union, Candidate candidate, double cost) {

        void learn(long measuredBytes) {
            forecast.memory.measured(union.pieces(), union.kernels(), measuredBytes);
        }
    }
}
