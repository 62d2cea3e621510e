package org.djlplan.study.shared;

import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/** Gives every unit its own object, by tensor id; valid for any problem. O(n). */
public final class Naive implements SharedObjectsStrategy {

    @Override
    public String name() {
        return "shared-naive";
    }

    @Override
    public int largestProblem() {
        return Integer.MAX_VALUE;
    }

    @Override
    public SharedObjectsPlan plan(PlanningProblem problem) {
        ImmutableMap.Builder<Integer, Integer> objects = ImmutableMap.builder();
        int next = 0;
        for (UsageRecord unit : problem.units()) {
            objects.put(unit.tensor(), next++);
        }
        return new SharedObjectsPlan(name(), problem, objects.buildOrThrow());
    }
}
