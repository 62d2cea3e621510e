package org.djlplan.delegation.choice;

import java.util.List;
import org.djlplan.delegation.choice.Race.Contender;
import org.djlplan.delegation.table.Entry;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.Goal.Objective;

/**
 * The order of candidates by a goal, the same for predicted and for measured ones: what is too
 * large, what is better, and what is not worth trying.
 *
 * @param goal what is wanted
 */
public record Preference(Goal goal) {

    /** What two measurements of the same memory differ by: a part of it, or some pages. */
    private static final double MEMORY_NOISE = 0.02;

    private static final long MEMORY_NOISE_BYTES = 256 << 10;

    /** A delegate kernel more is to make up for so much of the cost, or it is not tried. */
    private static final double PER_KERNEL = 0.005;

    /** What is predicted to be slower than this times the best will not be the best. */
    private static final double PREDICTION_ERROR = 1.1;

    /** Times what is over the limit, so that the least memory is best if nothing is under. */
    private static final double OVER_LIMIT = 1e30;

    /** Returns whether memory has anything to do with it. */
    public boolean asksForMemory() {
        return goal.asksForMemory();
    }

    /** Returns a figure that is smaller for what is better, as far as one can predict. */
    public double predicted(double nanos, double bytes, int kernels) {
        if (bytes > limit()) {
            return OVER_LIMIT * bytes;
        }
        double slow = nanos * (1 + PER_KERNEL * kernels);
        return switch (goal.objective()) {
            case LATENCY -> slow;
            case BALANCED -> slow * Math.max(1, bytes);
            // A step of memory that is more than noise counts more than any latency.
            case MEMORY -> Math.floor(Math.log1p(bytes) / MEMORY_NOISE) + slow / (slow + 1e9);
        };
    }

    /**
     * Returns whether a candidate is too far from the best one to be tried, as predicted: more than
     * a prediction of latency errs. Memory is predicted less well, so everything is tried.
     */
    public boolean isTooFarFromBest(double cost, double best) {
        return !asksForMemory() && cost > best * PREDICTION_ERROR;
    }

    /** Returns a figure that is smaller for what is better, as measured. */
    public double cost(Entry.Measured measured) {
        double nanos = measured.latency().medianNanos();
        return switch (goal.objective()) {
            case LATENCY -> nanos;
            case BALANCED -> nanos * Math.max(1, measured.memoryBytes());
            case MEMORY -> measured.memoryBytes() + nanos / (nanos + 1e9);
        };
    }

    /** Returns what a measured contender's nanoseconds count times. */
    public double weight(Contender contender) {
        return goal.objective() == Objective.BALANCED ? Math.max(1, contender.memoryBytes()) : 1;
    }

    /** Returns whether a contender is within the limit. */
    public boolean admits(Contender contender) {
        return contender.memoryBytes() <= limit();
    }

    /**
     * Returns those that latency decides between: all within the limit; if memory is what counts,
     * those of them that take hardly more than the least.
     */
    public List<Contender> eligible(List<Contender> contenders) {
        List<Contender> admitted = contenders.stream().filter(this::admits).toList();
        if (goal.objective() != Objective.MEMORY) {
            return admitted;
        }
        long least = admitted.stream().mapToLong(Contender::memoryBytes).min().orElse(0);
        double most = Math.max(least * (1 + MEMORY_NOISE), (double) least + MEMORY_NOISE_BYTES);
        return admitted.stream().filter(c -> c.memoryBytes() <= most).toList();
    }

    private long limit() {
        return goal.maxMemoryBytes().orElse(Long.MAX_VALUE);
    }
}
