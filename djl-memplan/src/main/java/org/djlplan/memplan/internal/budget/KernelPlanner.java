package org.djlplan.memplan.internal.budget;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.KernelSelection.Selection;

/**
 * Divides an arena between a delegate and the weights that are loaded for CPU kernels: the
 * delegate's part saves time, but if the rest is too small, steps wait for loads. It tries several
 * shares; the one with the least predicted time wins.
 */
public final class KernelPlanner {

    private static final int SHARES = 12;

    /** A selection that is not predicted to be clearly faster is not measured. */
    private static final double CLEARLY = 0.97;

    private final StreamedGraph graph;
    private final StepCosts costs;
    private final KernelSelection selection;
    private final StreamingPlanner planner;

    /**
     * @param costs of the steps in CPU kernels
     * @param delegable steps that the delegate supports
     */
    public KernelPlanner(
            StreamedGraph graph,
            StepCosts costs,
            Set<Integer> delegable,
            StreamingPlanner planner) {
        this.graph = graph;
        this.costs = costs;
        this.planner = planner;
        selection = new KernelSelection(graph.graph(), costs.computeNanos().toArray(), delegable);
    }

    /**
     * Returns the steps to delegate.
     *
     * @param bytes for the arena and the delegate together
     * @param delegateBytes limit of the delegate's part
     * @param plan of all steps in CPU kernels, for comparison
     * @return empty if nothing is predicted to be faster
     */
    public Optional<Selection> best(long bytes, long delegateBytes, StreamingPlan plan) {
        long most = Math.min(delegateBytes, selection.mostBytes());
        Map<Set<Integer>, Selection> shares = new LinkedHashMap<>();
        for (int share = SHARES; selection.possible() && share > 0; share--) {
            Selection next = selection.within(most / SHARES * share);
            if (!next.steps().isEmpty() && next.bytes() <= delegateBytes) {
                shares.put(next.steps(), next);
            }
        }
        return best(shares.values(), bytes, plan);
    }

    /** Returns the predicted fastest selection, if any beats the plan. */
    public Optional<Selection> best(
            Collection<Selection> selections, long bytes, StreamingPlan plan) {
        long leastNanos = (long) (Timeline.of(plan).nanos() * CLEARLY);
        Optional<Selection> best = Optional.empty();
        for (Selection next : selections) {
            long nanos = predictedNanos(next, bytes - next.bytes());
            if (nanos < leastNanos) {
                leastNanos = nanos;
                best = Optional.of(next);
            }
        }
        return best;
    }

    /**
     * Returns steps as a selection with their measured memory.
     *
     * @throws IllegalArgumentException if one of them cannot be delegated
     */
    public Selection measured(SortedSet<Integer> steps, long bytes) {
        long weights = selection.selection(steps).weightBytes();
        return new Selection(steps, weights, Math.max(weights, bytes));
    }

    private long predictedNanos(Selection selected, long arenaBytes) {
        StreamingProblem problem = graph.problem(costs(selected.steps()), selected.steps());
        if (problem.bound().bytes() > arenaBytes) {
            return Long.MAX_VALUE;
        }
        try {
            long enoughBytes = Math.min(arenaBytes, problem.enoughBytes());
            return Timeline.of(planner.plan(problem, enoughBytes, graph::nameOf)).nanos();
        } catch (BudgetTooSmallException e) {
            return Long.MAX_VALUE;
        }
    }

    private StepCosts costs(Set<Integer> delegated) {
        long[] nanos = costs.computeNanos().toArray();
        for (int step : delegated) {
            nanos[step] = Math.round(nanos[step] * selection.shareOfTime(step));
        }
        return new StepCosts(nanos, costs.loadBytesPerNano(), costs.nanosPerLoad());
    }
}
