package org.djlplan.memplan.internal.plan.greedy;

import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Greedy by Size for offset calculation (Pisarchyk and Lee 2020, section 5.2, Algorithm 3): units
 * by size, largest first, ties by tensor id; each into the smallest gap that fits, otherwise after
 * the rightmost overlapping unit.
 */
public final class GreedyBySize implements OffsetStrategy {

    @Override
    public String name() {
        return "greedy-by-size";
    }

    @Override
    public int largestProblem() {
        return 150_000;
    }

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        ImmutableList<UsageRecord> order =
                ImmutableList.sortedCopyOf(UnitOrders::bySize, problem.units());
        return new OffsetPlan(name(), problem, PlacedUnits.inOrder(order));
    }
}
