package org.djlplan.memplan.internal.plan;

import java.util.Map;
import java.util.function.Function;
import org.djlplan.memplan.internal.usage.PlanningProblem;

/**
 * A strategy that assigns every unit of a problem an offset in one arena.
 *
 * @param name its name in options and reports, in kebab case
 * @param largestProblem the largest number of units that it supports
 * @param takesConflicts whether it supports problems in which not only intervals decide which units
 *     may share memory
 * @param offsets returns the offset in bytes of every unit, by tensor id; ties are broken by tensor
 *     id, so the result is deterministic
 */
public record OffsetStrategy(
        String name,
        int largestProblem,
        boolean takesConflicts,
        Function<PlanningProblem, Map<Integer, Long>> offsets) {

    /** Creates a strategy that compares intervals only, and thus supports only serial problems. */
    public OffsetStrategy(
            String name,
            int largestProblem,
            Function<PlanningProblem, Map<Integer, Long>> offsets) {
        this(name, largestProblem, false, offsets);
    }

    /** Returns whether this strategy can plan {@code problem}, by its size and by its kind. */
    public boolean admits(PlanningProblem problem) {
        return (takesConflicts || problem.serial()) && problem.units().size() <= largestProblem;
    }

    /** Returns a valid plan. */
    public OffsetPlan plan(PlanningProblem problem) {
        return new OffsetPlan(name, problem, offsets.apply(problem));
    }
}
