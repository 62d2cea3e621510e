package org.djlplan.memplan.plan.conflict;

import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.usage.PlanningProblem;

/**
 * Units by number of conflicts, most first, ties by size, then by tensor id, which is the order of
 * TVM's {@code greedy_by_conflicts}; but each into the smallest gap that fits, else behind the last
 * unit in its way. O(n²) for n units.
 */
public final class GreedyByConflicts implements OffsetStrategy {

    @Override
    public String name() {
        return "greedy-by-conflicts";
    }

    @Override
    public int largestProblem() {
        return ConflictPlacement.LARGEST_PROBLEM;
    }

    @Override
    public boolean admits(PlanningProblem problem) {
        return problem.units().size() <= largestProblem();
    }

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        return new OffsetPlan(
                name(),
                problem,
                ConflictPlacement.smallestGap(problem, ConflictOrders.byConflicts(problem)));
    }
}
