package org.djlplan.study.shared;

import java.util.concurrent.TimeUnit;
import org.djlplan.thirdparty.guava.base.Stopwatch;

/** Counts the nodes of a search until its limit is reached. */
final class NodeBudget {

    /** Number of nodes between two checks of the clock. */
    private static final int STRIDE = 256;

    /** Number of simple steps that count as a node. */
    private static final long STEPS_PER_NODE = 256;

    private final long mostNanos;
    private final Stopwatch watch;
    private long left;
    private long untilLook;

    NodeBudget(OptimalObjects.Limit limit) {
        this(limit.nodes(), limit.nanos().orElse(Long.MAX_VALUE), Stopwatch.createStarted());
    }

    private NodeBudget(long left, long mostNanos, Stopwatch watch) {
        this.left = left;
        this.mostNanos = mostNanos;
        this.watch = watch;
    }

    /** Uses up a node; returns whether there was one left. */
    boolean take() {
        if (untilLook-- == 0) {
            untilLook = STRIDE;
            if (watch.elapsed(TimeUnit.NANOSECONDS) > mostNanos) {
                left = 0;
            }
        }
        if (left == 0) {
            return false;
        }
        left--;
        return true;
    }

    /** Counts simple steps beyond those of a usual node; many of them count as a node. */
    void spend(long steps) {
        left = Math.max(0, left - steps / STEPS_PER_NODE);
    }

    /** Returns the number of remaining nodes. */
    long left() {
        return left;
    }

    /** Reserves at most {@code nodes} of these for a part of the search. */
    NodeBudget share(long nodes) {
        long shared = Math.min(left, nodes);
        left -= shared;
        return new NodeBudget(shared, mostNanos, watch);
    }

    /** Takes back the unused nodes of a part of the search. */
    void giveBack(NodeBudget share) {
        left += share.left;
        share.left = 0;
    }
}
