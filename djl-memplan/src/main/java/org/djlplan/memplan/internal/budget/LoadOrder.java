package org.djlplan.memplan.internal.budget;

import java.util.List;

/**
 * Orders loads by list scheduling: whenever the loading thread is free, it loads the piece with the
 * earliest use among all pieces whose places are free. So a piece that waits for its place does not
 * delay the pieces behind it.
 *
 * <p>A load overtakes another only if the steps for which the overtaking load waits have finished
 * before the other's piece is loaded, and thus before the step that needs that piece. So no such
 * order can deadlock.
 */
final class LoadOrder {

    private final List<WeightUse> uses;
    private final StepCosts costs;
    private final int[] after;
    private final int[] left;
    private final long[] endNanos;

    /** Number of steps whose end is known. */
    private int known;

    private long loaderNanos;

    private LoadOrder(StreamingProblem problem, int[] order, int[] after) {
        uses = problem.weights();
        costs = problem.costs();
        this.after = after;
        left = order.clone();
        endNanos = new long[costs.steps()];
    }

    /**
     * Returns the same uses in a better order, assuming predicted load times.
     *
     * @param order uses by their first step
     * @param after number of steps for which the load of each use waits, by use
     */
    static int[] of(StreamingProblem problem, int[] order, int[] after) {
        return new LoadOrder(problem, order, after).ordered();
    }

    private int[] ordered() {
        int[] ordered = new int[left.length];
        int begin = 0;
        for (int i = 0; i < ordered.length; i++) {
            runSteps(uses.get(left[begin]).first());
            int next = next(begin);
            int use = left[next];
            System.arraycopy(left, begin, left, begin + 1, next - begin);
            begin++;
            ordered[i] = use;
            loaderNanos =
                    Math.max(loaderNanos, release(use)) + costs.loadNanos(uses.get(use).bytes());
        }
        return ordered;
    }

    /** Runs the steps before {@code end}; all pieces that they need are loaded. */
    private void runSteps(int end) {
        for (; known < end; known++) {
            long begin = known == 0 ? 0 : endNanos[known - 1];
            endNanos[known] = Math.max(begin, loaderNanos) + costs.computeNanos(known);
        }
    }

    /**
     * Returns the first released use when the thread is free, otherwise the use that is released
     * first.
     */
    private int next(int begin) {
        int best = begin;
        for (int i = begin; i < left.length; i++) {
            long release = release(left[i]);
            if (release <= loaderNanos) {
                return i;
            }
            if (release < release(left[best])) {
                best = i;
            }
        }
        return best;
    }

    private long release(int use) {
        if (after[use] == 0) {
            return 0;
        }
        return after[use] <= known ? endNanos[after[use] - 1] : Long.MAX_VALUE;
    }
}
