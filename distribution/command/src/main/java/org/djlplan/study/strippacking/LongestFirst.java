package org.djlplan.study.strippacking;

import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Places units with the longest intervals first: LeapMind's rule before 2021 (the rule that "Buffer
 * allocation as path cover" replaces). Units by (length of interval, size), both descending, ties
 * by tensor id, are stacked on the skyline. On chains it builds staircases: each unit lies on the
 * previous one, although the units below have ended.
 *
 * <p>O(n log n) for n units: one sort, then O(log n) to stack each unit. Problems of more than
 * 100,000 units are left to other strategies.
 */
public final class LongestFirst implements OffsetStrategy {

    @Override
    public String name() {
        return "longest-first";
    }

    @Override
    public int largestProblem() {
        return 100_000;
    }

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        Skyline skyline = new Skyline(problem.units());
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        for (UsageRecord unit : ImmutableList.sortedCopyOf(UnitOrders::byLength, problem.units())) {
            offsets.put(unit.tensor(), skyline.stack(unit));
        }
        return new OffsetPlan(name(), problem, offsets.buildOrThrow());
    }
}
