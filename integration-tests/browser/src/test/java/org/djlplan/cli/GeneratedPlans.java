package org.djlplan.cli;

import org.djlplan.memplan.internal.usage.PlanningProblem;

/** The planner's benchmark problems, for tests of report pages. */
public final class GeneratedPlans {

    private GeneratedPlans() {}

    /** Returns a network of {@code tensors} intermediate tensors. */
    public static PlanningProblem network(int tensors) {
        return GeneratedProblems.NETWORK.problem(tensors, GeneratedProblems.SEED);
    }

    /** Returns {@code tensors} tensors of a training step, many of them nested in time. */
    public static PlanningProblem training(int tensors) {
        return GeneratedProblems.TRAINING.problem(tensors, GeneratedProblems.SEED);
    }
}
