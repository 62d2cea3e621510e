package org.djlplan.memplan.internal.runtime.tflite;

import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;

/** The planner of one model, as called by the runtime. */
@FunctionalInterface
public interface PlanFinder {

    /**
     * Returns a small valid plan.
     *
     * @param live the engine's graph
     * @throws IllegalArgumentException if there is no such strategy
     */
    EvaluatedPlan find(Graph live);
}
