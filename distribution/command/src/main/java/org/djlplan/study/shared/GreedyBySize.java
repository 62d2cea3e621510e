package org.djlplan.study.shared;

import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;

/**
 * Greedy by Size for shared objects (Pisarchyk and Lee 2020, section 4.3, Algorithm 2): units by
 * size, largest first, ties by tensor id; each gets the smallest object that is free throughout its
 * interval, otherwise a new one. No object ever grows. O(k n log n) for k objects.
 */
public final class GreedyBySize implements SharedObjectsStrategy {

    @Override
    public String name() {
        return "shared-greedy-by-size";
    }

    @Override
    public int largestProblem() {
        return 50_000;
    }

    @Override
    public SharedObjectsPlan plan(PlanningProblem problem) {
        ObjectSchedules objects = new ObjectSchedules();
        problem.units().stream().sorted(UnitOrders::bySize).forEachOrdered(objects::place);
        return objects.toPlan(name(), problem);
    }
}
