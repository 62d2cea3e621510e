package org.djlplan.memplan.study.shared;

import org.djlplan.memplan.usage.PlanningProblem;

/**
 * Shared objects: gives every unit of a problem one of several buffers, each of which holds one
 * unit at a time (Pisarchyk and Lee 2020, section 4).
 */
public interface SharedObjectsStrategy {

    /** Returns the name by which options and reports call this strategy, in kebab case. */
    String name();

    /** Returns the largest number of units this strategy admits. */
    int largestProblem();

    /**
     * Returns whether this strategy can plan {@code problem}, by its size and by its kind. Unless a
     * strategy says otherwise, it looks at intervals only and so admits serial problems only.
     */
    default boolean admits(PlanningProblem problem) {
        return problem.serial() && problem.units().size() <= largestProblem();
    }

    /** Returns a valid plan; ties are broken by tensor id, so the plan is always the same. */
    SharedObjectsPlan plan(PlanningProblem problem);
}
