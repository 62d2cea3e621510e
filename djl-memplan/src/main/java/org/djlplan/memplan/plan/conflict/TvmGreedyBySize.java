package org.djlplan.memplan.plan.conflict;

import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.usage.PlanningProblem;

/**
 * TVM's {@code greedy_by_size} (src/tir/usmp/algo/greedy.cc, {@code GreedySize}) with one pool:
 * units by size, largest first, ties by number of conflicts, then by tensor id (TVM: by name, last
 * first); each behind the last unit in its way, whatever gaps there are. O(n²) for n units.
 */
public final class TvmGreedyBySize implements OffsetStrategy {

    @Override
    public String name() {
        return "tvm-greedy-by-size";
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
                ConflictPlacement.behindLast(problem, ConflictOrders.bySizeAndConflicts(problem)));
    }
}
