package org.djlplan.memplan.internal.budget;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.djlplan.memplan.internal.budget.StreamingPlan.Load;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The weights that are in memory during one inference with a plan, as {@link Timeline} predicts
 * them or, for pieces with fixed addresses, as computed from measured times of steps. A piece takes
 * memory from the beginning of its load to the end of the last step that reads it.
 *
 * @param nanos duration of the inference
 * @param pinnedBytes bytes that are always in memory
 * @param changes in order of time
 * @param stalls in order of time
 * @param binding the operator that prevents a smaller arena; empty if there is none
 */
public record ResidentWeights(
        long nanos, long pinnedBytes, List<Change> changes, List<Stall> stalls, String binding) {

    /**
     * A piece of the weights is loaded or dropped.
     *
     * @param nanos since the inference began
     * @param bytes change of the bytes in memory
     * @param operator the first one that reads the piece
     */
    public record Change(long nanos, long bytes, String operator) {}

    /**
     * The wait of a step for its weights.
     *
     * @param nanos start of the wait
     * @param waitNanos duration of the wait
     * @param operator of the step
     */
    public record Stall(long nanos, long waitNanos, String operator) {}

    public ResidentWeights {
        changes = ImmutableList.copyOf(changes);
        stalls = ImmutableList.copyOf(stalls);
    }

    /**
     * Returns the weights of a valid plan.
     *
     * @param nameOf returns the name of a step for people
     * @throws IllegalArgumentException if a step and a load wait for each other
     */
    public static ResidentWeights of(StreamingPlan plan, IntFunction<String> nameOf) {
        StreamingProblem problem = plan.problem();
        Timeline timeline = Timeline.of(plan);
        List<Change> changes = new ArrayList<>();
        for (Load load : plan.loads()) {
            if (!load.pinned()) {
                WeightUse use = problem.weights().get(load.use());
                String operator = nameOf.apply(use.first());
                changes.add(new Change(timeline.loadBeginNanos(load.use()), use.bytes(), operator));
                changes.add(new Change(timeline.endNanos(use.last()), -use.bytes(), operator));
            }
        }
        // Removals come before additions, because they make room.
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
        int widest = problem.bound().step();
        return new ResidentWeights(
                timeline.nanos(),
                plan.pinnedBytes(),
                changes,
                stalls,
                widest < 0 ? "" : nameOf.apply(widest));
    }

    /**
     * Returns the weights of a plan whose pieces have fixed addresses. It is unknown which steps
     * wait; a load is assumed to take no time and to begin as early as possible.
     *
     * @param trace that the plan was made for
     * @param bindingStep the step that uses the most bytes at once
     */
    public static ResidentWeights of(ResidencyPlan plan, WeightTrace trace, int bindingStep) {
        long[] begin = new long[trace.steps() + 1];
        for (int step = 0; step < trace.steps(); step++) {
            begin[step + 1] = begin[step] + trace.stepNanos().get(step);
        }
        long pinnedBytes = 0;
        long nanos = 0;
        Map<Integer, String> loaded = new HashMap<>();
        List<Change> changes = new ArrayList<>();
        for (ResidencyPlan.Action action : plan.actions()) {
            long bytes = trace.pieces().get(action.piece()).bytes();
            nanos = Math.max(nanos, begin[action.after()]);
            switch (action.kind()) {
                case PIN -> pinnedBytes += bytes;
                case LOAD -> {
                    String reader = stepName(firstReader(trace, action));
                    loaded.put(action.piece(), reader);
                    changes.add(new Change(nanos, bytes, reader));
                }
                case DROP -> {
                    String reader = loaded.remove(action.piece());
                    if (reader != null) {
                        changes.add(new Change(nanos, -bytes, reader));
                    }
                }
                case LOOK_UP -> {}
            }
        }
        return new ResidentWeights(
                begin[trace.steps()], pinnedBytes, changes, List.of(), stepName(bindingStep));
    }

    private static int firstReader(WeightTrace trace, ResidencyPlan.Action load) {
        return trace.uses().stream()
                .filter(use -> use.piece() == load.piece() && use.last() >= load.after())
                .mapToInt(WeightUse::first)
                .min()
                .orElse(load.after());
    }

    /** A step begins with an allocation, whose operator is unknown. */
    private static String stepName(int step) {
        return "step " + step;
    }
}
