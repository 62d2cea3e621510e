package org.djlplan.delegation.internal.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.choice.CostModel;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.partition.PieceGraph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Ordering;
import org.djlplan.thirdparty.guava.collect.Sets;

/**
 * The candidates with the best predictions, verified one after another. After each candidate with
 * unexpected memory, the predictions are computed again.
 *
 * <p>Up to {@value #ENUMERATED} pieces, all unions are predicted. For more pieces, it predicts the
 * unions on two descents, from nothing and from everything delegated: one piece is flipped at a
 * time, the one that improves most, until none improves. Costs are nearly additive, so the result
 * is near the best.
 */
final class Shortlist {

    /** All unions of this many pieces are predicted: 16384. */
    static final int ENUMERATED = 14;

    /** For each requested union, the engine's delegate kernels of this many are computed. */
    private static final int EXACT = 4;

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
    private final Goal goal;

    Shortlist(Trials trials, Goal goal) {
        this.trials = trials;
        this.goal = goal;
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
            if (next.isEmpty() || trials.budget().spent() >= (i < NEEDED ? 1 : PART_OF_BUDGET)) {
                return;
            }
            Optional<Contender> proven = trials.prove(next.get().candidate());
            if (proven.isEmpty()) {
                hopeful = hopeful(forecasts);
            } else {
                raced += goal.admits(proven.get()) ? 1 : 0;
                if (goal.asksForMemory()) {
                    next.get().learn(proven.get().memoryBytes());
                    hopeful = hopeful(forecasts);
                }
            }
        }
    }

    private List<Proposal> hopeful(List<Forecast> forecasts) {
        List<Proposal> best = new ArrayList<>();
        for (Forecast forecast : forecasts) {
            best.addAll(forecast.best(LOOKED_AT, goal));
        }
        best.removeIf(proposal -> trials.rejected(proposal.candidate()));
        best.sort(Comparator.comparingDouble(Proposal::cost));
        return best.stream()
                .filter(p -> !goal.isTooFarFromBest(p.cost(), best.get(0).cost()))
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
     * Returns the best unions of a graph's pieces by predicted cost, the best first.
     *
     * @param graph with at least one piece
     */
    static List<Union> best(PieceGraph graph, int count, ToDoubleFunction<Union> cost) {
        Stream<Costed> looked =
                graph.pieces().size() <= ENUMERATED
                        ? Sets.powerSet(graph.indices()).stream()
                                .map(set -> costed(graph, set, cost))
                        : downhill(graph, cost);
        Comparator<Costed> cheapest = Comparator.comparingDouble(Costed::cost);
        // Computing the engine's delegate kernels takes time, so it is done for the best only.
        Stream<Costed> exact =
                Ordering.from(cheapest).leastOf(looked.iterator(), EXACT * count).stream()
                        .map(Costed::union)
                        .map(union -> new Union(union.pieces(), graph.kernels(union.pieces())))
                        .map(union -> new Costed(union, cost.applyAsDouble(union)));
        return Ordering.from(cheapest).leastOf(exact.iterator(), count).stream()
                .map(Costed::union)
                .toList();
    }

    private static Costed costed(PieceGraph graph, Set<Integer> set, ToDoubleFunction<Union> cost) {
        Union union = new Union(set, kernelsOfChain(graph, set));
        return new Costed(union, cost.applyAsDouble(union));
    }

    /** Returns the number of delegate kernels of a union if the operators were a chain. */
    private static int kernelsOfChain(PieceGraph graph, Set<Integer> union) {
        int kernels = 0;
        for (int piece : union) {
            boolean goesOn =
                    union.contains(piece - 1)
                            && graph.pieces().get(piece - 1).operators().last() + 1
                                    == graph.pieces().get(piece).operators().first();
            kernels += goesOn ? 0 : 1;
        }
        return kernels;
    }

    private static Stream<Costed> downhill(PieceGraph graph, ToDoubleFunction<Union> cost) {
        Set<Integer> pieces = graph.indices();
        List<Costed> looked = new ArrayList<>();
        for (Set<Integer> start : List.of(Set.<Integer>of(), pieces)) {
            Costed here = costed(graph, start, cost);
            looked.add(here);
            while (true) {
                Set<Integer> from = here.union().pieces();
                List<Costed> near =
                        pieces.stream()
                                .map(
                                        u ->
                                                costed(
                                                        graph,
                                                        Sets.symmetricDifference(from, Set.of(u)),
                                                        cost))
                                .toList();
                looked.addAll(near);
                Costed next =
                        near.stream().min(Comparator.comparingDouble(Costed::cost)).orElseThrow();
                if (next.cost() >= here.cost()) {
                    break;
                }
                here = next;
            }
        }
        return looked.stream().distinct();
    }

    /**
     * A union of pieces.
     *
     * @param pieces indices
     * @param kernels number of resulting delegate kernels
     */
    record Union(Set<Integer> pieces, int kernels) {
        Union {
            pieces = ImmutableSet.copyOf(pieces);
        }
    }

    private record Costed(Union union, double cost) {}

    /**
     * The predicted costs of unions of a graph's pieces with one number of threads.
     *
     * @param pieces of the graph, at least one
     * @param threads of every candidate
     * @param transientBuffers whether every candidate builds its buffers for each prediction
     * @param model of unions; updated with measurements
     */
    record Forecast(PieceGraph pieces, int threads, boolean transientBuffers, CostModel model) {

        /** Returns the best candidates by a goal, the best first. */
        private List<Proposal> best(int count, Goal goal) {
            return Shortlist.best(pieces, count, union -> cost(union, goal)).stream()
                    .map(union -> proposal(union, goal))
                    .toList();
        }

        private Proposal proposal(Union union, Goal goal) {
            Candidate kept = new Candidate(pieces.operators(union.pieces()), threads);
            Candidate candidate =
                    transientBuffers && kept.delegates() ? kept.withTransientBuffers() : kept;
            return new Proposal(this, union, candidate, cost(union, goal));
        }

        private double cost(Union union, Goal goal) {
            return goal.predicted(
                    model.nanos(union.pieces()),
                    model.bytes(union.pieces(), union.kernels()),
                    union.kernels());
        }
    }

    /**
     * A candidate worth trying.
     *
     * @param forecast that predicts it
     * @param union its pieces
     * @param candidate its operators and threads
     * @param cost predicted cost by the goal
     */
    private record Proposal(Forecast forecast, Union union, Candidate candidate, double cost) {

        void learn(long measuredBytes) {
            forecast.model.learn(union.pieces(), union.kernels(), measuredBytes);
        }
    }
}
