package org.djlplan.memplan.plan.greedy;

import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.usage.BreadthOrder;
import org.djlplan.memplan.usage.PlanningProblem;

/**
 * Greedy by Breadth for offset calculation (Pisarchyk and Lee 2020, section 5.3): units in {@link
 * BreadthOrder}, placed as in {@link GreedyBySize}.
 */
public final class GreedyByBreadth implements OffsetStrategy {

    @Override
    public String name() {
        return "greedy-by-breadth";
    }

    @Override
    public int largestProblem() {
        return 50_000;
    }

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        return new OffsetPlan(
                name(), problem, GapPlacement.inOrder(BreadthOrder.of(problem.units())));
    }
}
