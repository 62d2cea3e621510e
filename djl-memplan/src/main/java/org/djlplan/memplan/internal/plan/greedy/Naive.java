package org.djlplan.memplan.internal.plan.greedy;

import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/** Gives every unit its own memory, side by side by tensor id; valid for any problem. */
public final class Naive implements OffsetStrategy {

    @Override
    public String name() {
        return "naive";
    }

    @Override
    public int largestProblem() {
        return Integer.MAX_VALUE;
    }

    @Override
    public boolean admits(PlanningProblem problem) {
        return true;
    }

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        long free = 0;
        for (UsageRecord unit : problem.units()) {
            offsets.put(unit.tensor(), free);
            free = UsageRecords.addBytes(free, unit.bytes());
        }
        return new OffsetPlan(name(), problem, offsets.buildOrThrow());
    }
}
