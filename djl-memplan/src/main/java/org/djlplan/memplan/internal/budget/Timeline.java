package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Comparator;
import org.djlplan.memplan.internal.budget.StreamingPlan.Load;

/**
 * The predicted course of an inference with a plan: one thread runs the steps, and one carries out
 * the loads in the order of the plan. A load begins when the previous load and the steps that it
 * waits for have finished; a step begins when the previous step and the loads that it needs have
 * finished. Pinned pieces are already loaded.
 */
public final class Timeline {

    private final long[] beginNanos;
    private final long[] endNanos;

    /** By use. */
    private final long[] loadBeginNanos;

    private final long loadedBytes;

    /**
     * The quality of a plan: the predicted time of an inference; on a tie, the time if loads take
     * twice as long as predicted, because slack is valuable; then the number of loaded bytes.
     */
    record Outcome(long nanos, long slowNanos, long loadedBytes) implements Comparable<Outcome> {

        static final Outcome WORST = new Outcome(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

        private static final int SLOWER = 2;

        private static final Comparator<Outcome> ORDER =
                Comparator.comparingLong(Outcome::nanos)
                        .thenComparingLong(Outcome::slowNanos)
                        .thenComparingLong(Outcome::loadedBytes);

        /** Returns the outcome if the uses are loaded in their order; see {@link LookAhead}. */
        static Outcome of(StreamingProblem problem, boolean[] pinned, int[] after) {
            Timeline usual = new Timeline(problem, pinned, after, 1);
            Timeline slow = new Timeline(problem, pinned, after, SLOWER);
            return new Outcome(usual.nanos(), slow.nanos(), usual.loadedBytes);
        }

        /** Returns the outcome of a plan. */
        static Outcome of(StreamingPlan plan) {
            return of(plan.problem(), pinned(plan), after(plan));
        }

        @Override
        public int compareTo(Outcome other) {
            return ORDER.compare(this, other);
        }
    }

    private Timeline(StreamingProblem problem, boolean[] pinned, int[] after, int slower) {
        StepCosts costs = problem.costs();
        beginNanos = new long[costs.steps()];
        endNanos = new long[costs.steps()];
        loadBeginNanos = new long[pinned.length];
        long bytes = 0;
        long now = 0;
        long loaderNanos = 0;
        int next = 0;
        for (int step = 0; step < costs.steps(); step++) {
            for (; next < pinned.length && problem.weights().get(next).first() == step; next++) {
                if (pinned[next]) {
                    continue;
                }
                int waits = after[next];
                checkArgument(waits <= step, "step %s and use %s wait", step, next);
                long size = problem.weights().get(next).bytes();
                loadBeginNanos[next] = Math.max(loaderNanos, waits == 0 ? 0 : endNanos[waits - 1]);
                loaderNanos = loadBeginNanos[next] + slower * costs.loadNanos(size);
                bytes += size;
                now = Math.max(now, loaderNanos);
            }
            beginNanos[step] = now;
            now += costs.computeNanos(step);
            endNanos[step] = now;
        }
        loadedBytes = bytes;
    }

    /**
     * Returns the timeline of a plan that loads pieces in the order of their uses.
     *
     * @throws IllegalArgumentException if a step and a load wait for each other
     */
    public static Timeline of(StreamingPlan plan) {
        return new Timeline(plan.problem(), pinned(plan), after(plan), 1);
    }

    private static boolean[] pinned(StreamingPlan plan) {
        boolean[] pinned = new boolean[plan.loads().size()];
        plan.loads().forEach(load -> pinned[load.use()] = load.pinned());
        return pinned;
    }

    private static int[] after(StreamingPlan plan) {
        int[] after = new int[plan.loads().size()];
        for (Load load : plan.loads()) {
            after[load.use()] = load.after();
        }
        return after;
    }

    /** Returns the time of an inference in nanoseconds. */
    public long nanos() {
        return endNanos.length == 0 ? 0 : endNanos[endNanos.length - 1];
    }

    /** Returns the total time for which steps wait for loads, in nanoseconds. */
    public long stallNanos() {
        long computed = 0;
        for (int step = 0; step < endNanos.length; step++) {
            computed += endNanos[step] - beginNanos[step];
        }
        return nanos() - computed;
    }

    /** Returns the time for which a step waits for loads, in nanoseconds. */
    long stallNanos(int step) {
        return beginNanos[step] - (step == 0 ? 0 : endNanos[step - 1]);
    }

    /** Returns when a step begins, in nanoseconds since the inference began. */
    long beginNanos(int step) {
        return beginNanos[step];
    }

    /** Returns when a step ends, in nanoseconds since the inference began. */
    long endNanos(int step) {
        return endNanos[step];
    }

    /** Returns when the load of a use begins, in nanoseconds since the inference began. */
    long loadBeginNanos(int use) {
        return loadBeginNanos[use];
    }

    /** Returns the number of bytes that each inference loads. */
    public long loadedBytes() {
        return loadedBytes;
    }
}
