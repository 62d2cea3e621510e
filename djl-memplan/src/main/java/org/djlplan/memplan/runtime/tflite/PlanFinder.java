package org.djlplan.memplan.runtime.tflite;

import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;

/**
 * The planner of one model, as the runtime sees it: gets a graph of the engine, gives a finished
 * plan.
 */
@FunctionalInterface
public interface PlanFinder extends AutoCloseable {

    /**
     * A graph to plan.
     *
     * @param live the graph as the engine has it
     * @param threads of the engine, −1 for its default
     * @param whileLoading whether the model's user expects to wait
     */
    record Request(Graph live, int threads, boolean whileLoading) {}

    /**
     * Returns a small valid plan.
     *
     * @throws IllegalArgumentException if there is no such strategy
     */
    EvaluatedPlan find(Request request);

    /** Ends what goes on in the background; by default nothing. */
    @Override
    default void close() {}
}
