package org.djlplan.study;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;
import org.djlplan.memplan.internal.plan.Greedy;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.plan.Portfolio;
import org.djlplan.memplan.internal.usage.Conflicts;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.testing.OffsetStrategyContract;
import org.djlplan.memplan.testing.TightGraph;
import org.djlplan.memplan.testing.Vectors;
import org.djlplan.study.parallel.ParallelPlanner;
import org.djlplan.study.shared.SharedStrategies;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StrategiesTest extends OffsetStrategyContract {

    private static final PlanningProblem PAPER = new PlanningProblem(Vectors.PISARCHYK);

    @Override
    protected List<OffsetStrategy> strategies() {
        return Strategies.offsets();
    }

    private static Map<Integer, Long> offsets(String strategy, PlanningProblem problem) {
        return Strategies.named(strategy).get(0).plan(problem).unitOffsets();
    }

    @Test
    void offsets_areInOrderOfPreference() {
        assertEquals(
                List.of(
                        "greedy-by-size",
                        "greedy-by-breadth",
                        "repeated-greedy",
                        "best-fit",
                        "critical-first",
                        "path-cover",
                        "tflite-arena",
                        "greedy-in-order",
                        "longest-first",
                        "naive"),
                Strategies.offsets().stream().map(OffsetStrategy::name).toList());
    }

    @Test
    void named_best_isThePortfolioOfApplications() {
        assertEquals(Portfolio.STRATEGIES, Strategies.named("best"));
        assertEquals(
                List.of("greedy-by-size", "greedy-by-breadth", "repeated-greedy"),
                Portfolio.STRATEGIES.stream().map(OffsetStrategy::name).toList());
    }

    @Test
    void admits_conflictsBesideIntervals_onlyPlansForParallelBranches() {
        PlanningProblem problem = PAPER.withConflicts(new Conflicts.Builder().add(0, 7).build());
        assertTrue(SharedStrategies.all().stream().noneMatch(s -> s.admits(problem)));
        assertTrue(ParallelPlanner.strategies().stream().allMatch(s -> s.admits(problem)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void exactSearch_graphAboveTheGreedyPlans_isAtTheBound(boolean inPlace) {
        EvaluatedPlan planned =
                MemoryPlanner.plan(
                        TightGraph.of(inPlace),
                        Strategies.named("exact-search"),
                        inPlace ? InPlace.TRUE : InPlace.FALSE);
        assertEquals(TightGraph.MINIMAL_BYTES, planned.arenaBytes());
        assertTrue(planned.provedMinimal());
        assertEquals(inPlace ? "exact-search+in-place" : "exact-search", planned.strategy());
        assertEquals(List.of(), PlanValidator.violations(planned.plan(), 64));
    }

    @Test
    void admits_conflictsBesideIntervals_onlyNaive() {
        PlanningProblem problem = PAPER.withConflicts(new Conflicts.Builder().add(0, 7).build());
        List<String> admitting =
                Strategies.offsets().stream()
                        .filter(strategy -> strategy.admits(problem))
                        .map(OffsetStrategy::name)
                        .toList();
        assertEquals(List.of("naive"), admitting);
    }

    @Test
    void names_includeAllOffsetStrategiesAndBest() {
        assertTrue(
                Strategies.names()
                        .containsAll(
                                Set.of("greedy-by-size", "greedy-by-breadth", "naive", "best")));
        assertTrue(
                Strategies.names()
                        .containsAll(Set.of("tflite-arena", "greedy-in-order", "longest-first")));
        for (OffsetStrategy strategy : Strategies.offsets()) {
            assertEquals(List.of(strategy), Strategies.named(strategy.name()));
        }
        assertTrue(Strategies.names().contains("exact-search"));
        assertEquals(Strategies.offsets().size() + 2, Strategies.names().size());
    }

    @Test
    void named_unknown_namesTheNearest() {
        assertTrue(unknown("greedybysize").contains("'greedy-by-size'"));
        assertTrue(unknown("greedy_by_breath").contains("'greedy-by-breadth'"));
        assertTrue(unknown("naif").contains("'naive'"));
        assertTrue(unknown("bets").contains("'best'"));
    }

    @Test
    void tfliteArena_wholeLifetimes_comeFirstThenSizeThenFirstUse() {
        // Tensors 1 and 3 live all the time. Of the two tensors of 20 bytes, tensor 4 is used
        // first.
        assertEquals(
                Map.of(0, 23L, 1, 0L, 2, 3L, 3, 1L, 4, 3L),
                offsets(
                        "tflite-arena",
                        new PlanningProblem(
                                records(2, 3, 20, 0, 5, 1, 5, 5, 30, 0, 5, 2, 0, 2, 20))));
    }

    @Test
    void greedyInOrder_anyRecords_placesByFirstUseThenSize() {
        assertEquals(
                Map.of(0, 20L, 1, 0L, 2, 30L, 3, 60L),
                offsets(
                        "greedy-in-order",
                        new PlanningProblem(records(0, 1, 10, 0, 0, 20, 1, 2, 30, 2, 3, 40))));
    }

    @Test
    void inRounds_paperExampleWithSizesResolvedByOperator5_isLargerThanOffline() {
        // Tensors 5 to 7 are the outputs of operators 5 to 7, whose sizes operator 5 resolves.
        OffsetPlan plan = Strategies.inRounds(Map.of(5, 5, 6, 5, 7, 5)).plan(PAPER);
        // 36, 28, 16 and 8 lie on top of each other. 64 overlaps all but the second, whose place of
        // 28 is too small, so it goes behind them; the offline plan puts it below.
        assertEquals(152, plan.totalBytes());
        assertEquals(124, Greedy.BY_SIZE.plan(PAPER).totalBytes());
        assertEquals(List.of(), PlanValidator.violations(plan, 1));
        OffsetPlan early =
                Strategies.inRounds(Map.of())
                        .plan(new PlanningProblem(Vectors.PISARCHYK.subList(0, 5)));
        assertEquals(88, early.totalBytes());
        early.unitOffsets()
                .forEach((tensor, offset) -> assertEquals(offset, plan.offsetOf(tensor)));
    }

    private static String unknown(String name) {
        return assertThrows(IllegalArgumentException.class, () -> Strategies.named(name))
                .getMessage();
    }
}
