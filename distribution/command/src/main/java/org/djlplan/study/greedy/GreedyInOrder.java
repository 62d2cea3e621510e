package org.djlplan.study.greedy;

import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.greedy.PlacedUnits;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Greedy in execution order for offset calculation: units by first operator, ties by size, largest
 * first, then by tensor id; each into the smallest gap that fits. An allocator that hands out
 * memory while the model runs has the same order (Lee et al. 2019 use it for shared objects). So
 * this strategy shows how small an arena a best-fit allocator can achieve without knowledge of the
 * future.
 *
 * <p>The complexity is that of {@link org.djlplan.memplan.internal.plan.greedy.GreedyBySize}, from
 * which it differs only in the order of units.
 */
public final class GreedyInOrder implements OffsetStrategy {

    @Override
    public String name() {
        return "greedy-in-order";
    }

    @Override
    public int largestProblem() {
        return 100_000;
    }

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        ImmutableList<UsageRecord> order =
                ImmutableList.sortedCopyOf(UnitOrders::byFirstAndSize, problem.units());
        return new OffsetPlan(name(), problem, PlacedUnits.inOrder(order));
    }
}
