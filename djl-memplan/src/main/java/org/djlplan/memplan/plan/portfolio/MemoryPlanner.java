package org.djlplan.memplan.plan.portfolio;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntPredicate;
import org.djlplan.memplan.config.InPlace;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.PlanValidator;
import org.djlplan.memplan.plan.portfolio.PlanImprover.Improvement;
import org.djlplan.memplan.usage.AliasAnalysis;
import org.djlplan.memplan.usage.LowerBounds;
import org.djlplan.memplan.usage.OperatorProfiles;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * Plans the memory of one graph's intermediate tensors, or of records that were seen: at once by
 * the strategies of the portfolio, and, where those stay above the lower bound, by a search. Every
 * plan is checked by {@link PlanValidator}; when a strategy does not admit a problem or its plan is
 * invalid, the naive plan is taken.
 *
 * <p>A plan in which tensors share places is preferred when it saves enough; then places are shared
 * only at operators whose breadth would exceed its arena, if that keeps it as small: elsewhere
 * sharing brings nothing.
 */
public final class MemoryPlanner {

    private final Graph graph;
    private final Portfolio portfolio;
    private final Optional<Long> leastSavingBytes;
    private final PlanningProblem plain;
    private final Optional<PlanningProblem> aliased;
    private final OffsetPlan plainPlan;
    private final Optional<OffsetPlan> aliasedPlan;
    private final OffsetPlan chosen;

    /**
     * Plans by the strategies.
     *
     * @param graph the model, with temporaries if the engine was asked
     * @param strategy a name that {@link Strategies#named} knows
     * @param inPlace when operators may write over their inputs
     * @throws IllegalArgumentException if there is no such strategy; the message names the nearest
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    public MemoryPlanner(Graph graph, String strategy, InPlace inPlace) {
        this.graph = graph;
        portfolio = portfolio(strategy);
        leastSavingBytes = inPlace.leastSavingBytes();
        plain = new PlanningProblem(UsageRecords.of(graph));
        plainPlan = best(portfolio, plain);
        aliased =
                leastSavingBytes.isEmpty()
                        ? Optional.empty()
                        : withClasses(AliasAnalysis.aliasClasses(graph));
        aliasedPlan = aliased.map(problem -> best(portfolio, problem));
        chosen =
                aliasedPlan
                        .filter(plan -> pays(plainPlan.totalBytes(), plan.totalBytes()))
                        .map(plan -> whereNeeded(plan, Optional.empty()))
                        .orElse(plainPlan);
    }

    /** Returns the plan of the strategies for a graph. The parameters are the constructor's. */
    public static EvaluatedPlan plan(Graph graph, String strategy, InPlace inPlace) {
        return new MemoryPlanner(graph, strategy, inPlace).planned();
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
     * Returns a smaller plan of the same records if a search finds one that is valid, or this one.
     *
     * @param improver searches within its limits
     */
    public static EvaluatedPlan searched(EvaluatedPlan planned, PlanImprover improver) {
        Improvement found = improve(planned.plan(), improver, OptionalLong.empty());
        return EvaluatedPlan.of(found.plan(), found.provedMinimal());
    }

    private static Portfolio portfolio(String strategy) {
        return new Portfolio(Strategies.named(strategy), UsageRecords.ALIGNMENT_BYTES);
    }

    private static OffsetPlan best(Portfolio portfolio, PlanningProblem problem) {
        return portfolio.best(List.of(problem)).plan();
    }

    private Optional<PlanningProblem> withClasses(List<ImmutableList<Integer>> classes) {
        return classes.isEmpty()
                ? Optional.empty()
                : Optional.of(new PlanningProblem(plain.records(), classes));
    }

    /** Returns the plan of the strategies. */
    public EvaluatedPlan planned() {
        return EvaluatedPlan.of(chosen, !improvable());
    }

    /**
     * Returns whether a search may find a smaller plan: one that is above the lower bound of its
     * problem, or in which tensors could share places if only that saved enough.
     */
    public boolean improvable() {
        boolean aliasedIsOpen =
                aliased.isPresent()
                        && (isAliased(chosen)
                                ? chosen.totalBytes() > boundBytes(aliased.get())
                                : pays(chosen.totalBytes(), boundBytes(aliased.get())));
        return aliasedIsOpen || (!isAliased(chosen) && isOpen(plainPlan));
    }

    /**
     * Returns the plan of a search that starts from those of the strategies, or theirs if the
     * search finds none that is smaller.
     *
     * @param improver searches as often as asked, within its limits altogether
     */
    public EvaluatedPlan searched(PlanImprover improver) {
        EvaluatedPlan found = isAliased(chosen) ? searchAliased(improver) : searchPlain(improver);
        return found.plan().totalBytes() < chosen.totalBytes()
                ? found
                : EvaluatedPlan.of(chosen, found.provedMinimal());
    }

    private EvaluatedPlan searchPlain(PlanImprover improver) {
        Improvement best = improve(plainPlan, improver, OptionalLong.empty());
        long plainBytes = best.plan().totalBytes();
        if (aliased.isEmpty() || !pays(plainBytes, boundBytes(aliased.get()))) {
            return EvaluatedPlan.of(best.plan(), best.provedMinimal());
        }
        EvaluatedPlan shared = searchAliased(improver);
        return pays(plainBytes, shared.plan().totalBytes())
                ? shared
                : EvaluatedPlan.of(best.plan(), best.provedMinimal() && shared.provedMinimal());
    }

    private EvaluatedPlan searchAliased(PlanImprover improver) {
        Improvement best = improve(aliasedPlan.orElseThrow(), improver, OptionalLong.empty());
        OffsetPlan plan = whereNeeded(best.plan(), Optional.of(improver));
        return EvaluatedPlan.of(plan, best.provedMinimal());
    }

    private OffsetPlan whereNeeded(OffsetPlan shared, Optional<PlanImprover> improver) {
        long arenaBytes = shared.totalBytes();
        List<ImmutableList<Integer>> needed = neededClasses(arenaBytes);
        if (needed.equals(shared.problem().aliasClasses())) {
            return shared;
        }
        // At load, one strategy more that does as well is not worth its time.
        Portfolio sufficient = improver.isPresent() ? portfolio : portfolio(shared.strategy());
        OffsetPlan fewer = best(sufficient, withClasses(needed).orElse(plain));
        if (fewer.totalBytes() > arenaBytes && improver.isPresent()) {
            fewer = improve(fewer, improver.get(), OptionalLong.of(arenaBytes)).plan();
        }
        return fewer.totalBytes() <= arenaBytes ? fewer : shared;
    }

    private ImmutableList<ImmutableList<Integer>> neededClasses(long arenaBytes) {
        OperatorProfiles profiles = new OperatorProfiles(plain.records());
        return AliasAnalysis.aliasClasses(
                graph, operator -> profiles.breadthAt(operator) > arenaBytes);
    }

    /** A search is asked only where it can find something, and is not trusted. */
    static Improvement improve(
            OffsetPlan incumbent, PlanImprover improver, OptionalLong enoughBytes) {
        if (!isOpen(incumbent)) {
            return new Improvement(incumbent, true);
        }
        Improvement found = improver.improve(incumbent, enoughBytes);
        boolean better = found.plan().totalBytes() < incumbent.totalBytes();
        if (better
                && !PlanValidator.violations(found.plan(), UsageRecords.ALIGNMENT_BYTES)
                        .isEmpty()) {
            return new Improvement(incumbent, false);
        }
        return better ? found : new Improvement(incumbent, found.provedMinimal());
    }

    /**
     * Returns the figures of a plan that was kept.
     *
     * @param kept offsets of tensors as they were when it was made
     * @param provedMinimal whether it was proved then
     * @throws IllegalArgumentException if it is not a valid plan of this graph; the message says
     *     why
     */
    public EvaluatedPlan restored(OffsetPlan kept, boolean provedMinimal) {
        PlanningProblem problem = kept.problem();
        checkArgument(problem.records().equals(plain.records()), "its tensors are not the model's");
        checkArgument(
                problem.aliasClasses().isEmpty()
                        || (aliased.isPresent() && maySharePlaces(problem)),
                "its tensors may not share places in that way");
        checkArgument(
                PlanValidator.violations(kept, UsageRecords.ALIGNMENT_BYTES).isEmpty(),
                "it is not valid");
        return EvaluatedPlan.of(kept, provedMinimal);
    }

    /**
     * Whether the alias classes are those of a graph in which just the operators that they take
     * together may write over their inputs.
     */
    private boolean maySharePlaces(PlanningProblem problem) {
        Set<Integer> members = new HashSet<>();
        problem.aliasClasses().forEach(members::addAll);
        IntPredicate joins =
                index -> {
                    Operator operator = graph.operators().get(index);
                    return operator.outputs().stream()
                            .filter(members::contains)
                            .map(problem::unitOf)
                            .anyMatch(
                                    unit ->
                                            operator.inputs().stream()
                                                    .filter(members::contains)
                                                    .map(problem::unitOf)
                                                    .anyMatch(unit::equals));
                };
        return AliasAnalysis.aliasClasses(graph, joins).equals(problem.aliasClasses());
    }

    private boolean pays(long plainBytes, long aliasedBytes) {
        return plainBytes - aliasedBytes >= leastSavingBytes.orElse(Long.MAX_VALUE);
    }

    private static boolean isAliased(OffsetPlan plan) {
        return !plan.problem().aliasClasses().isEmpty();
    }

    private static boolean isOpen(OffsetPlan plan) {
        return plan.totalBytes() > boundBytes(plan.problem());
    }

    private static long boundBytes(PlanningProblem problem) {
        return LowerBounds.offsetBytes(problem.units());
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
