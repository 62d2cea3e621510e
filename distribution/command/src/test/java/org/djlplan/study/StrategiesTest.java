package org.djlplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.internal.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.internal.plan.portfolio.Portfolio;
import org.djlplan.memplan.internal.usage.Conflicts;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.testing.TightGraph;
import org.djlplan.memplan.testing.Vectors;
import org.djlplan.study.parallel.ParallelPlanner;
import org.djlplan.study.shared.EndToEnd;
import org.djlplan.study.shared.SharedStrategies;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StrategiesTest {

    private static final PlanningProblem PAPER = new PlanningProblem(Vectors.PISARCHYK);

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
    void all_includeEverySharedStrategyEndToEnd() {
        assertEquals(
                SharedStrategies.all().stream().map(s -> s.name() + "-end-to-end").toList(),
                Strategies.all().stream()
                        .filter(EndToEnd.class::isInstance)
                        .map(OffsetStrategy::name)
                        .toList());
        assertFalse(Strategies.names().contains("shared-optimal"));
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
                Strategies.all().stream()
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
        for (OffsetStrategy strategy : Strategies.all()) {
            assertEquals(List.of(strategy), Strategies.named(strategy.name()));
        }
        assertTrue(Strategies.names().contains("exact-search"));
        assertEquals(Strategies.all().size() + 2, Strategies.names().size());
    }

    @Test
    void named_oneName_isThatStrategy() {
        assertEquals("naive", Strategies.named("naive").get(0).name());
        assertEquals(1, Strategies.named("naive").size());
    }

    @Test
    void named_unknown_namesTheNearest() {
        assertTrue(unknown("greedybysize").contains("'greedy-by-size'"));
        assertTrue(unknown("greedy_by_breath").contains("'greedy-by-breadth'"));
        assertTrue(unknown("naif").contains("'naive'"));
        assertTrue(unknown("bets").contains("'best'"));
    }

    private static String unknown(String name) {
        return assertThrows(IllegalArgumentException.class, () -> Strategies.named(name))
                .getMessage();
    }
}
