package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;
import org.djlplan.memplan.internal.budget.StreamingPlan.Load;
import org.djlplan.memplan.internal.usage.UsageRecord;

/**
 * The predicted course of an inference with a plan: one thread runs the steps, and one carries out
 * the loads in the order of the plan. A load begins when the previous load and the steps that it
 * waits for have finished; a step begins when the previous step and the loads that it needs have
 * finished. Pinned pieces are already loaded.
 */
public final class Timeline {

    private final long[] beginNanos;
    private final long[] endNanos;
    private final long[] loadBeginNanos;
    private final long loadedBytes;
    private long peakBytes;

    /**
     * Runs an inference.
     *
     * @param order the loaded uses, in the order of their loads
     * @param after number of steps for which the load of each use waits, by use
     */
    Timeline(StreamingProblem problem, int[] order, int[] after) {
        StepCosts costs = problem.costs();
        int[] lastNeeded = lastNeeded(problem, order);
        beginNanos = new long[costs.steps()];
        endNanos = new long[costs.steps()];
        loadBeginNanos = new long[order.length];
        long bytes = 0;
        long now = 0;
        long loaderNanos = 0;
        int next = 0;
        for (int step = 0; step < costs.steps(); step++) {
            for (; next <= lastNeeded[step]; next++) {
                int waits = after[order[next]];
                checkArgument(waits <= step, "step %s and load %s wait", step, next);
                long size = problem.weights().get(order[next]).bytes();
                loadBeginNanos[next] = Math.max(loaderNanos, waits == 0 ? 0 : endNanos[waits - 1]);
                loaderNanos = loadBeginNanos[next] + costs.loadNanos(size);
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
     * Returns the timeline of a valid plan.
     *
     * @throws IllegalArgumentException if a step and a load wait for each other
     */
    public static Timeline of(StreamingPlan plan) {
        StreamingProblem problem = plan.problem();
        int[] order = plan.loads().stream().filter(l -> !l.pinned()).mapToInt(Load::use).toArray();
        int[] after = new int[problem.weights().size()];
        plan.loads().forEach(load -> after[load.use()] = load.after());
        Timeline timeline = new Timeline(problem, order, after);
        timeline.peakBytes = timeline.peakBytes(plan, order);
        return timeline;
    }

    private long peakBytes(StreamingPlan plan, int[] order) {
        StreamingProblem problem = plan.problem();
        long[] breadths = new long[problem.steps()];
        for (UsageRecord unit : problem.activations().units()) {
            occupy(breadths, unit.first(), unit.last(), unit.bytes());
        }
        for (Load load : plan.loads()) {
            if (load.pinned()) {
                long size = problem.weights().get(load.use()).bytes();
                occupy(breadths, 0, breadths.length - 1, size);
            }
        }
        int running = 0;
        for (int i = 0; i < order.length; i++) {
            while (endNanos[running] <= loadBeginNanos[i]) {
                running++;
            }
            WeightUse use = problem.weights().get(order[i]);
            occupy(breadths, running, use.last(), use.bytes());
        }
        return Arrays.stream(breadths).max().orElse(0);
    }

    /** Returns, by step, the position of the last load that must be finished before it begins. */
    private static int[] lastNeeded(StreamingProblem problem, int[] order) {
        int[] last = new int[problem.steps()];
        Arrays.fill(last, -1);
        for (int i = 0; i < order.length; i++) {
            last[problem.weights().get(order[i]).first()] = i;
        }
        for (int step = 1; step < last.length; step++) {
            last[step] = Math.max(last[step], last[step - 1]);
        }
        return last;
    }

    private static void occupy(long[] breadths, int first, int last, long bytes) {
        for (int step = first; step <= last; step++) {
            breadths[step] += bytes;
        }
    }

    /** Returns the time of an inference in nanoseconds. */
    public long nanos() {
        return endNanos.length == 0 ? 0 : endNanos[endNanos.length - 1];
    }

    /** Returns the total time for which steps wait for loads, in nanoseconds. */
    public long stallNanos() {
        long sum = 0;
        for (int step = 0; step < beginNanos.length; step++) {
            sum += stallNanos(step);
        }
        return sum;
    }

    /** Returns the time for which a step waits for loads, in nanoseconds. */
    public long stallNanos(int step) {
        return beginNanos[step] - (step == 0 ? 0 : endNanos[step - 1]);
    }

    /** Returns the number of steps that have finished at a time. */
    int finishedSteps(long nanos) {
        int found = Arrays.binarySearch(endNanos, nanos);
        int finished = found < 0 ? -found - 1 : found + 1;
        while (finished < endNanos.length && endNanos[finished] <= nanos) {
            finished++;
        }
        return finished;
    }

    /** Returns when a step begins, in nanoseconds since the inference began. */
    public long beginNanos(int step) {
        return beginNanos[step];
    }

    /** Returns when a step ends, in nanoseconds since the inference began. */
    long endNanos(int step) {
        return endNanos[step];
    }

    /**
     * Returns when a load begins, in nanoseconds since the inference began.
     *
     * @param load its position among the loads of each inference
     */
    long loadBeginNanos(int load) {
        return loadBeginNanos[load];
    }

    /** Returns the number of bytes that each inference loads. */
    public long loadedBytes() {
        return loadedBytes;
    }

    /**
     * Returns the peak of bytes in use: activations of a step, and pieces from the beginning of
     * their load to their last step.
     */
    public long peakBytes() {
        return peakBytes;
    }
}
