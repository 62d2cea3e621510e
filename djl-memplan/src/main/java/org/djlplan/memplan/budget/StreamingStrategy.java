package org.djlplan.memplan.budget;

import java.util.Optional;

/** Plans a model for a budget. */
public interface StreamingStrategy {

    /** Returns the name by which reports call this strategy, in kebab case. */
    String name();

    /**
     * Returns a valid plan whose arena has at most {@code budgetBytes}; empty if this strategy
     * finds none. The same problem and budget always give the same plan.
     */
    Optional<StreamingPlan> plan(StreamingProblem problem, long budgetBytes);
}
