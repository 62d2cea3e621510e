package org.djlplan.memplan.plan;

import org.djlplan.memplan.usage.PlanningProblem;

/** Offset calculation: gives every unit of a problem an offset in one arena. */
public interface OffsetStrategy {

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
    OffsetPlan plan(PlanningProblem problem);
}
