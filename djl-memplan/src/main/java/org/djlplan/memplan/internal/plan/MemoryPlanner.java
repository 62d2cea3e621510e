package org.djlplan.memplan.internal.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.usage.AliasAnalysis;
import org.djlplan.memplan.internal.usage.AliasAnalysis.Precedence;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.OperatorProfiles;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Plans the memory of a graph's intermediate tensors, or of recorded usage, with the strategies of
 * the portfolio. Every plan is checked by {@link PlanValidator}; if a strategy does not support a
 * problem or its plan is invalid, the naive plan is used.
 *
 * <p>A plan with shared places is preferred if it saves enough. Sharing is then limited to
 * operators whose breadth would otherwise exceed the arena, because sharing elsewhere saves
 * nothing. If this limit makes the arena larger, it is dropped.
 */
public final class MemoryPlanner {

    private final Graph graph;
    private final List<OffsetStrategy> strategies;
    private final Optional<Long> leastSavingBytes;
    private final PlanningProblem plain;
    private final Optional<PlanningProblem> aliased;
    private final OffsetPlan chosen;

    private MemoryPlanner(Graph graph, List<OffsetStrategy> strategies, InPlace inPlace) {
        this.graph = graph;
        this.strategies = strategies;
        Portfolio portfolio = portfolio(strategies);
        leastSavingBytes = inPlace.leastSavingBytes();
        List<PlanningProblem> variants = variants(graph, leastSavingBytes.isPresent());
        plain = variants.get(0);
        OffsetPlan plainPlan = best(portfolio, plain);
        aliased = variants.stream().skip(1).findFirst();
        chosen =
                aliased.map(problem -> best(portfolio, problem))
                        .filter(plan -> isWorthSharing(plainPlan.totalBytes(), plan.totalBytes()))
                        .map(this::whereNeeded)
                        .orElse(plainPlan);
    }

    /** Plans a graph with the default options. */
    public static EvaluatedPlan plan(Graph graph) {
        return plan(graph, InPlace.AUTO);
    }

    /**
     * Returns a small valid plan of a graph.
     *
     * @param graph the model, including temporaries if the engine reported them
     * @param inPlace when operators may overwrite their inputs
     * @throws ArithmeticException if the sum of sizes does not fit into a long
     */
    public static EvaluatedPlan plan(Graph graph, InPlace inPlace) {
        return plan(graph, Portfolio.STRATEGIES, inPlace);
    }

    /** Returns the best plan of some strategies, in order of preference. */
    public static EvaluatedPlan plan(
            Graph graph, List<OffsetStrategy> strategies, InPlace inPlace) {
        MemoryPlanner planner = new MemoryPlanner(graph, strategies, inPlace);
        return EvaluatedPlan.of(planner.chosen, !planner.improvable());
    }

    /**
     * Returns a small valid plan of recorded usage that is not derived from a graph.
     *
     * @throws ArithmeticException if the sum of sizes does not fit into a long
     */
    public static EvaluatedPlan plan(PlanningProblem problem) {
        return EvaluatedPlan.of(best(portfolio(Portfolio.STRATEGIES), problem));
    }

    private static Portfolio portfolio(List<OffsetStrategy> strategies) {
        return new Portfolio(strategies, UsageRecords.ALIGNMENT_BYTES);
    }

    private static OffsetPlan best(Portfolio portfolio, PlanningProblem problem) {
        return portfolio.best(List.of(problem)).plan();
    }

    /**
     * Returns whether there may be a smaller plan: this one is above the lower bound of its
     * problem, or sharing places was rejected because it saved too little.
     */
    private boolean improvable() {
        boolean aliasedIsOpen =
                aliased.isPresent()
                        && (isAliased(chosen)
                                ? chosen.totalBytes() > boundBytes(aliased.get())
                                : isWorthSharing(chosen.totalBytes(), boundBytes(aliased.get())));
        return aliasedIsOpen
                || (!isAliased(chosen) && chosen.totalBytes() > boundBytes(chosen.problem()));
    }

    private OffsetPlan whereNeeded(OffsetPlan shared) {
        List<ImmutableList<Integer>> needed = neededClasses(shared.totalBytes());
        if (needed.equals(shared.problem().aliasClasses())) {
            return shared;
        }
        // One more strategy with an equal result is not worth its time.
        List<OffsetStrategy> same = new ArrayList<>(strategies);
        same.removeIf(strategy -> !strategy.name().equals(shared.strategy()));
        OffsetPlan fewer = best(portfolio(same), new PlanningProblem(plain.records(), needed));
        return fewer.totalBytes() <= shared.totalBytes() ? fewer : shared;
    }

    private ImmutableList<ImmutableList<Integer>> neededClasses(long arenaBytes) {
        OperatorProfiles profiles = new OperatorProfiles(plain.records());
        return AliasAnalysis.aliasClasses(
                graph, operator -> profiles.breadthAt(operator) > arenaBytes, Precedence.SERIAL);
    }

    private boolean isWorthSharing(long plainBytes, long aliasedBytes) {
        return plainBytes - aliasedBytes >= leastSavingBytes.orElse(Long.MAX_VALUE);
    }

    private static boolean isAliased(OffsetPlan plan) {
        return !plan.problem().aliasClasses().isEmpty();
    }

    private static long boundBytes(PlanningProblem problem) {
        return LowerBounds.offsetBytes(problem.units());
    }

    /**
     * Returns the graph's planning problem, followed, if requested and if tensors can share places,
     * by the same problem with alias classes.
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
