package org.djlplan.study.shared;

import org.djlplan.memplan.internal.usage.PlanningProblem;

/**
 * A strategy that assigns every unit of a problem one of several buffers, each of which holds one
 * unit at a time (Pisarchyk and Lee 2020, section 4).
 */
public interface SharedObjectsStrategy {

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
    SharedObjectsPlan plan(PlanningProblem problem);
}
