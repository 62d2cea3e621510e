package org.djlplan.memplan.budget;

import com.google.common.collect.ImmutableList;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntFunction;
import org.djlplan.memplan.budget.StreamingPlan.Load;

/**
 * Which weights are in memory during one inference with a plan, as its {@link Timeline} predicts. A
 * piece takes memory from the begin of its load to the end of the last step that reads it.
 *
 * @param nanos how long the inference takes
 * @param pinnedBytes what is in memory all the time
 * @param changes by time
 * @param stalls by time
 * @param binding the operator for which the arena can be no smaller; empty if there is none
 */
public record ResidentWeights(
        long nanos, long pinnedBytes, List<Change> changes, List<Stall> stalls, String binding) {

    /**
     * A piece comes or goes.
     *
     * @param nanos since the inference began
     * @param bytes more in memory from then on; less, if negative
     * @param operator the first that reads the piece
     */
    public record Change(long nanos, long bytes, String operator) {}

    /**
     * A step waits for weights.
     *
     * @param nanos when it begins to
     * @param waitNanos how long
     * @param operator the step
     */
    public record Stall(long nanos, long waitNanos, String operator) {}

    public ResidentWeights {
        changes = ImmutableList.copyOf(changes);
        stalls = ImmutableList.copyOf(stalls);
    }

    /**
     * Returns the weights of a valid plan.
     *
     * @param nameOf names a step for people
     * @throws IllegalArgumentException if a step and a load wait for each other
     */
    public static ResidentWeights of(StreamingPlan plan, IntFunction<String> nameOf) {
        StreamingProblem problem = plan.problem();
        Timeline timeline = Timeline.of(plan);
        long pinnedBytes = 0;
        int loaded = 0;
        List<Change> changes = new ArrayList<>();
        for (Load load : plan.loads()) {
            WeightUse use = problem.weights().get(load.use());
            if (load.pinned()) {
                pinnedBytes += use.bytes();
                continue;
            }
            String operator = nameOf.apply(use.first());
            changes.add(new Change(timeline.loadBeginNanos(loaded), use.bytes(), operator));
            changes.add(new Change(timeline.endNanos(use.last()), -use.bytes(), operator));
            loaded++;
        }
        // What goes makes room for what comes.
        changes.sort(Comparator.comparingLong(Change::nanos).thenComparingLong(Change::bytes));
        List<Stall> stalls = new ArrayList<>();
        for (int step = 0; step < problem.steps(); step++) {
            long waitNanos = timeline.stallNanos(step);
            if (waitNanos > 0) {
                stalls.add(
                        new Stall(
                                timeline.beginNanos(step) - waitNanos,
                                waitNanos,
                                nameOf.apply(step)));
            }
        }
        BudgetBound bound = BudgetBound.of(problem);
        return new ResidentWeights(
                timeline.nanos(),
                pinnedBytes,
                changes,
                stalls,
                bound.step() < 0 ? "" : nameOf.apply(bound.step()));
    }
}
