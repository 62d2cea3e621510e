package org.djlplan.study.strippacking;

import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;

/**
 * Places units with the longest intervals first: LeapMind's rule before 2021 (the rule that "Buffer
 * allocation as path cover" replaces). Units by (length of interval, size), both descending, ties
 * by tensor id, are stacked on the skyline. On chains it builds staircases: each unit lies on the
 * previous one, although the units below have ended.
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
        MomentTable timeline = new MomentTable(problem.units());
        return OffsetPlan.ofUnits(name(), problem, timeline.stack(UnitOrders::byLength).byUnit());
    }
}
