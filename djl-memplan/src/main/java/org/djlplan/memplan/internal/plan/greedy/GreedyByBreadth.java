package org.djlplan.memplan.internal.plan.greedy;

import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.BreadthOrder;
import org.djlplan.memplan.internal.usage.PlanningProblem;

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
                name(), problem, PlacedUnits.inOrder(BreadthOrder.of(problem.units())));
    }
}
