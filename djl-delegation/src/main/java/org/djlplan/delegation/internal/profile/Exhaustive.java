package org.djlplan.delegation.internal.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.partition.PieceGraph;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.djlplan.thirdparty.guava.collect.Sets;

/** Measures all unions of whole partitions, each equally often, for studies. */
final class Exhaustive {

    /** With more partitions, only unions of the largest are measured. */
    static final int MOST_PARTITIONS = 10;

    /** Turns of each candidate. */
    static final int ROUNDS = 20;

    /** Minimum number of inferences in each turn; fast candidates run more. */
    private static final int PER_TURN = 5;

    /** Number of candidates that are prepared at once and take turns. */
    private static final int TOGETHER = 16;

    /** Number of candidates in the final race. */
    private static final int FINALISTS = 8;

    private final Trials trials;
    private final Goal goal;
    private final boolean transientBuffers;

    /**
     * @param transientBuffers whether to measure each union also with buffers that are built for
     *     each prediction
     */
    Exhaustive(Trials trials, Goal goal, boolean transientBuffers) {
        this.trials = trials;
        this.goal = goal;
        this.transientBuffers = transientBuffers;
    }

    /** Measures with all numbers of threads, and returns the fastest candidates, prepared. */
    List<Contender> measure(
            Graph graph, List<? extends Set<Integer>> partitions, List<Integer> threads)
            throws InterruptedException {
        List<Set<Integer>> largest =
                partitions.stream()
                        .sorted(Comparator.comparing(Set<Integer>::size).reversed())
                        .limit(MOST_PARTITIONS)
                        .map(Set::copyOf)
                        .toList();
        PieceGraph pieces = PieceGraph.of(graph, largest, 1);
        List<Candidate> candidates = new ArrayList<>();
        for (int setting : threads) {
            for (Set<Integer> union : Sets.powerSet(pieces.indices())) {
                Candidate candidate = new Candidate(pieces.operators(union), setting);
                candidates.add(candidate);
                if (transientBuffers && candidate.delegates()) {
                    candidates.add(candidate.withTransientBuffers());
                }
            }
        }
        for (List<Candidate> together : Iterables.partition(candidates, TOGETHER)) {
            List<Contender> contenders = new ArrayList<>();
            for (Candidate candidate : together) {
                if (trials.budget().spent() < 1) {
                    trials.prove(candidate).ifPresent(contenders::add);
                }
            }
            for (int round = 0;
                    round < ROUNDS && (round == 0 || trials.budget().spent() < 1);
                    round++) {
                for (Contender contender : contenders) {
                    trials.turn(contender, PER_TURN);
                }
            }
            contenders.forEach(trials::release);
        }
        return finalists();
    }

    private List<Contender> finalists() throws InterruptedException {
        List<Contender> best =
                goal.eligible(trials.proven()).stream()
                        .filter(c -> trials.measured(c.candidate()).isPresent())
                        .sorted(Comparator.comparingDouble(this::cost))
                        .limit(FINALISTS)
                        .toList();
        List<Contender> finalists = new ArrayList<>();
        for (Contender contender : best) {
            trials.prove(contender.candidate()).ifPresent(finalists::add);
        }
        return finalists;
    }

    private double cost(Contender contender) {
        return trials.measured(contender.candidate())
                .map(entry -> goal.weight(contender) * entry.latency().medianNanos())
                .orElse(Double.POSITIVE_INFINITY);
    }
}
