package org.djlplan.study.parallel;

import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.plan.Attempt;
import org.djlplan.memplan.internal.plan.Greedy;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.Portfolio;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Plans graphs for engines that run independent branches at once. TensorFlow Lite and TorchScript
 * run operators one after another, so they do not need such plans.
 */
public final class ParallelPlanner {

    /**
     * In order of preference. TVM's two strategies hardly ever have the only smallest plan; they
     * are included so that the result is never larger than TVM's.
     */
    private static final ImmutableList<OffsetStrategy> STRATEGIES =
            ImmutableList.of(
                    ConflictGreedy.BY_SIZE,
                    ConflictGreedy.BY_CONFLICTS,
                    ConflictGreedy.TVM_BY_SIZE,
                    ConflictGreedy.TVM_BY_CONFLICTS,
                    Greedy.NAIVE);

    private ParallelPlanner() {}

    /** Returns the strategies for problems with conflicts, in order of preference. */
    public static ImmutableList<OffsetStrategy> strategies() {
        return STRATEGIES;
    }

    /**
     * Returns a small valid plan in which tensors share memory only if the graph's data
     * dependencies order them, see {@link ParallelUse}; in place if that saves memory.
     *
     * @param graph the model
     * @throws IllegalArgumentException if the graph exceeds a limit of {@link ParallelUse}
     * @throws ArithmeticException if the sum of sizes does not fit into a long
     */
    public static Attempt plan(Graph graph) {
        ParallelUse use = ParallelUse.of(graph);
        return new Portfolio(STRATEGIES, UsageRecords.ALIGNMENT_BYTES)
                .best(List.of(use.problem(), use.aliasedProblem()));
    }
}
