package org.djlplan.memplan.plan.conflict;

import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.usage.PlanningProblem;

/**
 * Greedy by Size (Pisarchyk and Lee 2020, section 5.2, Algorithm 3) with conflicts for overlapping
 * intervals: units by size, largest first, ties by tensor id; each into the smallest gap that fits,
 * else behind the last unit in its way. O(n²) for n units.
 */
public final class GreedyBySizeOverConflicts implements OffsetStrategy {

    @Override
    public String name() {
        return "greedy-by-size-over-conflicts";
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
                ConflictPlacement.smallestGap(problem, ConflictOrders.bySize(problem)));
    }
}
