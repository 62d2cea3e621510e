package org.djlplan.study.greedy;

import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.greedy.PlacedUnits;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The arena of TensorFlow Lite's interpreter ({@code ArenaPlanner::CreateTensorAllocationVector}
 * and {@code SimpleMemoryArena::Allocate}): units that live from the first operator to the last, by
 * tensor id, so that they lie at the arena's start; then the others by size, largest first, ties by
 * first operator, then by tensor id; each into the smallest gap that fits. TensorFlow Lite places
 * first only the tensors that it never frees; here these are the units that span the whole problem.
 *
 * <p>The complexity is that of {@link org.djlplan.memplan.internal.plan.greedy.GreedyBySize}, from
 * which it differs only in the order of units.
 */
public final class TfliteArena implements OffsetStrategy {

    @Override
    public String name() {
        return "tflite-arena";
    }

    @Override
    public int largestProblem() {
        return 100_000;
    }

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        int first = Integer.MAX_VALUE;
        int last = 0;
        for (UsageRecord unit : problem.units()) {
            first = Math.min(first, unit.first());
            last = Math.max(last, unit.last());
        }
        ImmutableList.Builder<UsageRecord> order = ImmutableList.builder();
        ImmutableList.Builder<UsageRecord> others = ImmutableList.builder();
        for (UsageRecord unit : problem.units()) {
            (unit.first() == first && unit.last() == last ? order : others).add(unit);
        }
        order.addAll(ImmutableList.sortedCopyOf(UnitOrders::bySizeAndFirst, others.build()));
        return new OffsetPlan(name(), problem, PlacedUnits.inOrder(order.build()));
    }
}
