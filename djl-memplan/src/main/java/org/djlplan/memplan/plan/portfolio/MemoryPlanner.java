package org.djlplan.memplan.plan.portfolio;

import com.google.common.collect.ImmutableList;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.usage.AliasAnalysis;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/** Plans the memory of a graph's intermediate tensors: what the run time calls. */
public final class MemoryPlanner {

    private MemoryPlanner() {}

    /**
     * Returns the smallest valid plan. Every plan is checked by {@link
     * org.djlplan.memplan.plan.PlanValidator}; when the strategy does not admit the graph or its
     * plan is invalid, the naive plan is returned.
     *
     * @param graph the model, with temporaries if the engine was asked
     * @param strategy a name that {@link Strategies#named} knows
     * @param inPlace whether operators may also write over their inputs; the plan without is still
     *     preferred unless the one with is smaller
     * @throws IllegalArgumentException if there is no such strategy; the message names the nearest
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    public static PlannedMemory plan(Graph graph, String strategy, boolean inPlace) {
        Portfolio portfolio =
                new Portfolio(Strategies.named(strategy), UsageRecords.ALIGNMENT_BYTES);
        return PlannedMemory.of(portfolio.best(variants(graph, inPlace)));
    }

    /**
     * Returns the graph's planning problem, and after it, if wanted and if any tensors can share
     * places, the same with alias classes.
     */
    public static ImmutableList<PlanningProblem> variants(Graph graph, boolean inPlace) {
        ImmutableList<UsageRecord> records = UsageRecords.of(graph);
        PlanningProblem plain = new PlanningProblem(records);
        List<ImmutableList<Integer>> classes =
                inPlace ? AliasAnalysis.aliasClasses(graph) : List.of();
        return classes.isEmpty()
                ? ImmutableList.of(plain)
                : ImmutableList.of(plain, new PlanningProblem(records, classes));
    }
}
