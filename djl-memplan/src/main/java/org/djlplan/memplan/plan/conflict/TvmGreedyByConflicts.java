package org.djlplan.memplan.plan.conflict;

import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.usage.PlanningProblem;

/**
 * TVM's {@code greedy_by_conflicts} (src/tir/usmp/algo/greedy.cc, {@code GreedyConflicts}) with one
 * pool: units by number of conflicts, most first, ties by size, then by tensor id (TVM: by name,
 * last first); each behind the last unit in its way, whatever gaps there are. O(n²) for n units.
 */
public final class TvmGreedyByConflicts implements OffsetStrategy {

    @Override
    public String name() {
        return "tvm-greedy-by-conflicts";
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
                ConflictPlacement.behindLast(problem, ConflictOrders.byConflicts(problem)));
    }
}
