package org.djlplan.memplan.runtime.tflite;

import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;

/** Finds the plans of one model's live graphs. */
interface PlanFinder extends AutoCloseable {

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

    /** Ends what goes on in the background. */
    @Override
    void close();

    /** Returns one that plans by the strategies only, which takes no time to speak of. */
    static PlanFinder atOnce(RuntimeOptions options) {
        return new PlanFinder() {
            @Override
            public EvaluatedPlan find(Request request) {
                return MemoryPlanner.plan(request.live(), options.strategy(), options.inPlace());
            }

            @Override
            public void close() {}
        };
    }

    /**
     * Returns one for a model of an application.
     *
     * @param file the model's own, beside which plans are kept
     */
    static PlanFinder of(Path file, RuntimeOptions options, Optional<SearchSetup> setup) {
        return setup.<PlanFinder>map(s -> SearchingPlanFinder.of(file, options, s))
                .orElseGet(() -> atOnce(options));
    }
}
