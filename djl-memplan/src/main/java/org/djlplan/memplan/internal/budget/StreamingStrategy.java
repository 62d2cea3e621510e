package org.djlplan.memplan.internal.budget;

import java.util.Optional;

/** Plans a model for a budget. */
public interface StreamingStrategy {

    /** Returns the name of this strategy in reports, in kebab case. */
    String name();

    /**
     * Returns a valid plan whose arena has at most {@code budgetBytes}; empty if this strategy
     * finds none. The result is deterministic.
     */
    Optional<StreamingPlan> plan(StreamingProblem problem, long budgetBytes);
}
