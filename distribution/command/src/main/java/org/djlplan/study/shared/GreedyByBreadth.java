package org.djlplan.study.shared;

import org.djlplan.memplan.internal.usage.BreadthOrder;
import org.djlplan.memplan.internal.usage.PlanningProblem;

/**
 * Greedy by Breadth for shared objects (Pisarchyk and Lee 2020, section 4.2, Algorithm 1): units in
 * {@link BreadthOrder}; each gets the smallest large enough object that is free throughout its
 * interval, otherwise the largest free one, which grows, otherwise a new one. O(k n log n) for k
 * objects.
 */
public final class GreedyByBreadth implements SharedObjectsStrategy {

    @Override
    public String name() {
        return "shared-greedy-by-breadth";
    }

    @Override
    public int largestProblem() {
        return 50_000;
    }

    /**
     * {@inheritDoc}
     *
     * @throws ArithmeticException if a breadth does not fit into a long
     */
    @Override
    public SharedObjectsPlan plan(PlanningProblem problem) {
        ObjectSchedules objects = new ObjectSchedules();
        BreadthOrder.of(problem.units()).forEach(objects::place);
        return objects.toPlan(name(), problem);
    }
}
