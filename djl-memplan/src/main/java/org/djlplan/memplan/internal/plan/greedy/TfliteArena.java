package org.djlplan.memplan.internal.plan.greedy;

import java.util.Comparator;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The arena of TensorFlow Lite's interpreter ({@code ArenaPlanner::CreateTensorAllocationVector}
 * and {@code SimpleMemoryArena::Allocate}): units that live from the first operator to the last, by
 * tensor id, so that they lie at the arena's start; then the others by size, largest first, ties by
 * first operator, then by tensor id; each into the smallest gap that fits. TensorFlow Lite places
 * only tensors first that it never frees; here those are the units that span the whole problem.
 *
 * <p>The complexity is that of {@link GreedyBySize}, from which it differs only in the order of
 * units.
 */
public final class TfliteArena implements OffsetStrategy {

    private static final Comparator<UsageRecord> BY_SIZE =
            Comparator.comparingLong(UsageRecord::bytes)
                    .reversed()
                    .thenComparingInt(UsageRecord::first)
                    .thenComparingInt(UsageRecord::tensor);

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
        int first = problem.units().stream().mapToInt(UsageRecord::first).min().orElse(0);
        int last = problem.units().stream().mapToInt(UsageRecord::last).max().orElse(0);
        ImmutableList.Builder<UsageRecord> order = ImmutableList.builder();
        ImmutableList.Builder<UsageRecord> others = ImmutableList.builder();
        for (UsageRecord unit : problem.units()) {
            (unit.first() == first && unit.last() == last ? order : others).add(unit);
        }
        order.addAll(ImmutableList.sortedCopyOf(BY_SIZE, others.build()));
        return new OffsetPlan(name(), problem, GapPlacement.inOrder(order.build()));
    }
}
