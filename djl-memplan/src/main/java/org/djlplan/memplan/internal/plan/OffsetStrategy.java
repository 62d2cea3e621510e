package org.djlplan.memplan.internal.plan;

import org.djlplan.memplan.internal.usage.PlanningProblem;

/** A strategy that assigns every unit of a problem an offset in one arena. */
public interface OffsetStrategy {

    /** Returns the name of this strategy in options and reports, in kebab case. */
    String name();

    /** Returns the largest number of units that this strategy supports. */
    int largestProblem();

    /**
     * Returns whether this strategy can plan {@code problem}, by its size and by its kind. By
     * default, strategies compare intervals only and thus support only serial problems.
     */
    default boolean admits(PlanningProblem problem) {
        return problem.serial() && problem.units().size() <= largestProblem();
    }

    /** Returns a valid plan; ties are broken by tensor id, so the plan is deterministic. */
    OffsetPlan plan(PlanningProblem problem);
}
