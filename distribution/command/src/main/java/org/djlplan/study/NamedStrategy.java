package org.djlplan.study;

import java.util.Map;
import java.util.function.Function;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;

/**
 * A strategy for serial problems that is one function.
 *
 * @param offsets returns the offset in bytes of every unit, by tensor id
 */
record NamedStrategy(
        String name, int largestProblem, Function<PlanningProblem, Map<Integer, Long>> offsets)
        implements OffsetStrategy {

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        return new OffsetPlan(name, problem, offsets.apply(problem));
    }
}
