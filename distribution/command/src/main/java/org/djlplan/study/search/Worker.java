package org.djlplan.study.search;

import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.djlplan.study.search.CapacitySearch.Outcome;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Makes search attempts until the bounds meet. Whether an order of candidates suits a problem shows
 * early or very late, so most attempts are short: their lengths follow Luby's series, which is
 * optimal for restarts up to a logarithmic factor. Knowledge of sections and failures is kept
 * between attempts.
 */
final class Worker implements Runnable {

    /** The aim of a worker. */
    enum Aim {
        /** Proves that no plan fits into the lower bound, or finds one. */
        RAISE_LOWER_BOUND,
        /** Improves the best plan. */
        IMPROVE_PLAN,
        /** Alternates between these two aims. */
        BOTH
    }

    private static final int REMEMBERED = 1 << 17;
    private static final long NODES_PER_UNIT = 2;

    private final Sections sections;
    private final Bounds bounds;
    private final Aim aim;
    private final boolean random;
    private final long mostNodes;
    private final BooleanSupplier stop;
    private final CapacitySearch lowerAttempts;
    private final CapacitySearch planAttempts;
    private final List<CandidateOrder> published;
    private final Random seeded = new Random(1);

    private long target = Long.MAX_VALUE;
    private int unsuccessful;

    /**
     * @param random whether to try random orders instead of the published ones
     * @param stop latest time to end
     */
    Worker(
            Sections sections,
            Bounds bounds,
            Aim aim,
            boolean random,
            Set<Technique> techniques,
            long mostNodes,
            BooleanSupplier stop) {
        this.sections = sections;
        this.bounds = bounds;
        this.aim = aim;
        this.random = random;
        this.mostNodes = mostNodes;
        this.stop = stop;
        BooleanSupplier obsolete =
                () -> stop.getAsBoolean() || bounds.closed() || bounds.answered(target);
        lowerAttempts = new CapacitySearch(sections, techniques, REMEMBERED, obsolete);
        planAttempts = new CapacitySearch(sections, techniques, REMEMBERED, obsolete);
        published =
                ImmutableList.of(
                        CandidateOrder.byLength(sections),
                        CandidateOrder.byCrowdAndArea(sections),
                        CandidateOrder.byCrowdAndLength(sections));
    }

    /** Returns the number of examined partial plans. */
    long nodes() {
        return lowerAttempts.nodes() + planAttempts.nodes();
    }

    @Override
    public void run() {
        int turns = aim == Aim.BOTH && bounds.goalBytes().isEmpty() ? 2 : 1;
        for (int turn = 0;
                !bounds.closed() && !stop.getAsBoolean() && nodes() < mostNodes;
                turn++) {
            int attempt = turn / turns;
            boolean lower = turns == 2 ? turn % 2 == 0 : aim != Aim.IMPROVE_PLAN;
            target = target(lower);
            CapacitySearch attempts = lower ? lowerAttempts : planAttempts;
            Outcome outcome = attempts.run(target, order(attempt), nodesOf(attempt));
            if (outcome == Outcome.FOUND) {
                bounds.found(attempts.offsets());
            } else if (outcome == Outcome.IMPOSSIBLE) {
                bounds.refuted(target);
            }
            if (!lower) {
                unsuccessful = outcome == Outcome.FOUND ? 0 : unsuccessful + 1;
            }
        }
    }

    private CandidateOrder order(int attempt) {
        return random
                ? CandidateOrder.nearLength(sections, seeded)
                : published.get(attempt % published.size());
    }

    private long nodesOf(int attempt) {
        long nodes = NODES_PER_UNIT * sections.units * luby(attempt + 1);
        return Math.min(nodes, mostNodes - nodes());
    }

    /**
     * Returns the capacity of the next attempt: halfway down at first, a smaller step if that is
     * too hard.
     */
    private long target(boolean lower) {
        if (bounds.goalBytes().isPresent()) {
            return bounds.goalBytes().getAsLong();
        }
        if (lower) {
            return bounds.lowerBytes();
        }
        long open = bounds.bestBytes() - bounds.lowerBytes();
        long step = open >> Math.min(62, 1 + unsuccessful / published.size());
        return bounds.bestBytes() - Math.max(bounds.granule(), step);
    }

    /** The series 1 1 2 1 1 2 4 1 1 2 … (Luby, Sinclair and Zuckerman 1993), from 1 on. */
    private static long luby(int index) {
        int block = 32 - Integer.numberOfLeadingZeros(index);
        int full = (1 << block) - 1;
        return index == full ? 1L << (block - 1) : luby(index - full / 2);
    }
}
