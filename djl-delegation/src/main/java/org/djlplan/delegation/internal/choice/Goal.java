package org.djlplan.delegation.internal.choice;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.OptionalLong;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.memplan.internal.table.Entry;

/**
 * The goal of a choice, and the order of predicted and measured candidates by it: which are too
 * large, which are better, and which are not worth trying.
 *
 * @param objective the figure to minimize
 * @param maxMemoryBytes limit of a candidate's memory; empty for no limit
 */
public record Goal(Objective objective, OptionalLong maxMemoryBytes) {

    /** Difference of two measurements of the same memory: a fraction of it, or some pages. */
    private static final double MEMORY_NOISE = 0.02;

    private static final long MEMORY_NOISE_BYTES = 256 << 10;

    /** An additional delegate kernel must save this fraction of the cost to be tried. */
    private static final double PER_KERNEL = 0.005;

    /**
     * A candidate that is predicted to take this many times the best one's time will not be the
     * best.
     */
    private static final double PREDICTION_ERROR = 1.1;

    /**
     * Factor for candidates over the limit, so that the least memory wins if none is below the
     * limit.
     */
    private static final double OVER_LIMIT = 1e30;

    /** The figure that a choice minimizes. */
    public enum Objective {
        /** The median latency of a prediction. */
        LATENCY,
        /** The memory that a model takes; on a tie, the faster candidate. */
        MEMORY,
        /** The product of both, so that one percent of either weighs the same. */
        BALANCED
    }

    public Goal {
        checkArgument(
                maxMemoryBytes.isEmpty() || maxMemoryBytes.getAsLong() > 0,
                "maxMemoryBytes: %s",
                maxMemoryBytes);
    }

    /** Returns whether the goal involves memory. */
    public boolean asksForMemory() {
        return objective != Objective.LATENCY || maxMemoryBytes.isPresent();
    }

    /** Returns a predicted cost; smaller is better. */
    public double predicted(double nanos, double bytes, int kernels) {
        if (bytes > limit()) {
            return OVER_LIMIT * bytes;
        }
        double slow = nanos * (1 + PER_KERNEL * kernels);
        return switch (objective) {
            case LATENCY -> slow;
            case BALANCED -> slow * Math.max(1, bytes);
            // A difference of memory beyond the noise counts more than any latency.
            case MEMORY -> Math.floor(Math.log1p(bytes) / MEMORY_NOISE) + slow / (slow + 1e9);
        };
    }

    /**
     * Returns whether a candidate's predicted cost is too far from the best one to be tried:
     * farther than the error of a latency prediction. Memory predictions are less precise, so with
     * such a goal everything is tried.
     */
    public boolean isTooFarFromBest(double cost, double best) {
        return !asksForMemory() && cost > best * PREDICTION_ERROR;
    }

    /** Returns a measured cost; smaller is better. */
    public double cost(Entry.Measured measured) {
        double nanos = measured.latency().medianNanos();
        return switch (objective) {
            case LATENCY -> nanos;
            case BALANCED -> nanos * Math.max(1, measured.memoryBytes());
            case MEMORY -> measured.memoryBytes() + nanos / (nanos + 1e9);
        };
    }

    /** Returns the factor of a measured contender's nanoseconds. */
    public double weight(Contender contender) {
        return objective == Objective.BALANCED ? Math.max(1, contender.memoryBytes()) : 1;
    }

    /** Returns whether a contender is within the limit. */
    public boolean admits(Contender contender) {
        return contender.memoryBytes() <= limit();
    }

    /**
     * Returns the contenders that latency decides between: all within the limit; if memory counts,
     * those of them that take hardly more than the least memory.
     */
    public List<Contender> eligible(List<Contender> contenders) {
        List<Contender> admitted = contenders.stream().filter(this::admits).toList();
        if (objective != Objective.MEMORY) {
            return admitted;
        }
        long least = admitted.stream().mapToLong(Contender::memoryBytes).min().orElse(0);
        double most = Math.max(least * (1 + MEMORY_NOISE), (double) least + MEMORY_NOISE_BYTES);
        return admitted.stream().filter(c -> c.memoryBytes() <= most).toList();
    }

    private long limit() {
        return maxMemoryBytes.orElse(Long.MAX_VALUE);
    }
}
