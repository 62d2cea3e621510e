package org.djlplan.memplan.plan.portfolio;

import com.google.common.collect.ImmutableList;
import java.util.List;
import java.util.OptionalLong;
import org.djlplan.memplan.config.InPlace;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.usage.AliasAnalysis;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/** Plans the memory of a graph's intermediate tensors: what the run time calls. */
public final class MemoryPlanner {

    private MemoryPlanner() {}

    /**
     * Returns a small valid plan. Every plan is checked by {@link
     * org.djlplan.memplan.plan.PlanValidator}; when the strategy does not admit the graph or its
     * plan is invalid, the naive plan is returned.
     *
     * <p>A plan in which tensors share places is preferred when it saves enough; then places are
     * shared only at operators whose breadth would exceed its arena, if that keeps it as small:
     * elsewhere sharing brings nothing.
     *
     * @param graph the model, with temporaries if the engine was asked
     * @param strategy a name that {@link Strategies#named} knows
     * @param inPlace when operators may write over their inputs
     * @throws IllegalArgumentException if there is no such strategy; the message names the nearest
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    public static EvaluatedPlan plan(Graph graph, String strategy, InPlace inPlace) {
        return new GraphPlanner(graph, strategy, inPlace).planned();
    }

    /**
     * Returns a small valid plan of records that were seen, not derived from a graph.
     *
     * @param problem what to place
     * @param strategy a name that {@link Strategies#named} knows
     * @throws IllegalArgumentException if there is no such strategy; the message names the nearest
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    public static EvaluatedPlan plan(PlanningProblem problem, String strategy) {
        return EvaluatedPlan.of(portfolio(strategy).best(List.of(problem)).plan());
    }

    /**
     * Returns a smaller plan of the same problem if a search finds one that is valid, or this one.
     *
     * @param improver searches within its limits
     */
    public static EvaluatedPlan searched(EvaluatedPlan planned, PlanImprover improver) {
        PlanImprover.Improvement found =
                GraphPlanner.improve(planned.plan(), improver, OptionalLong.empty());
        return EvaluatedPlan.of(found.plan(), found.provedMinimal());
    }

    private static Portfolio portfolio(String strategy) {
        return new Portfolio(Strategies.named(strategy), UsageRecords.ALIGNMENT_BYTES);
    }

    private static PlanningProblem withAliases(
            PlanningProblem plain, List<ImmutableList<Integer>> classes) {
        return new PlanningProblem(plain.records(), classes);
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
                : ImmutableList.of(plain, withAliases(plain, classes));
    }
}
