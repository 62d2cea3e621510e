package org.djlplan.memplan.internal.budget;

import java.util.Arrays;

/**
 * Predicts, as {@link Timeline} does, the outcome of a way to load the pieces of a problem. It
 * reuses its memory, because a search makes thousands of predictions, and their garbage on the heap
 * would count against the budget.
 */
final class Foresight {

    /** Factor by which loads are slower than predicted in the second prediction. */
    private static final int SLOWER = 2;

    private final StreamingProblem problem;

    /** By step, the position of the last load that must be finished before the step begins. */
    private final int[] lastNeeded;

    private final long[] endNanos;

    Foresight(StreamingProblem problem) {
        this.problem = problem;
        lastNeeded = new int[problem.steps()];
        endNanos = new long[problem.steps()];
    }

    /**
     * Returns the outcome of loads in an order.
     *
     * @param order uses in the order of their loads, without pinned ones
     * @param after number of steps for which the load of each use waits, by use; at most the number
     *     of steps before the first step of this use and of each use that is loaded later
     */
    Outcome outcome(int[] order, int[] after) {
        return outcome(order, order.length, after);
    }

    /**
     * Returns the outcome of the first uses of an order.
     *
     * @param count number of loaded uses
     */
    Outcome outcome(int[] order, int count, int[] after) {
        long loadedBytes = 0;
        Arrays.fill(lastNeeded, -1);
        for (int i = 0; i < count; i++) {
            WeightUse use = problem.weights().get(order[i]);
            loadedBytes += use.bytes();
            lastNeeded[use.first()] = i;
        }
        long nanos = nanos(order, after, 1);
        return new Outcome(nanos, nanos(order, after, SLOWER), loadedBytes);
    }

    /** Returns the time of an inference whose loads take a multiple of the predicted time. */
    private long nanos(int[] order, int[] after, int slower) {
        StepCosts costs = problem.costs();
        long now = 0;
        long loaderNanos = 0;
        int next = 0;
        for (int step = 0; step < endNanos.length; step++) {
            for (; next <= lastNeeded[step]; next++) {
                int waits = after[order[next]];
                long freeNanos = waits == 0 ? 0 : endNanos[waits - 1];
                long bytes = problem.weights().get(order[next]).bytes();
                loaderNanos = Math.max(loaderNanos, freeNanos) + slower * costs.loadNanos(bytes);
                now = Math.max(now, loaderNanos);
            }
            now += costs.computeNanos(step);
            endNanos[step] = now;
        }
        return now;
    }
}
