package org.djlplan.memplan.internal.plan.portfolio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.Conflicts;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.testing.Vectors;
import org.junit.jupiter.api.Test;

class StrategiesTest {

    private static final PlanningProblem PAPER = new PlanningProblem(Vectors.PISARCHYK);

    @Test
    void named_best_isSeveralInOrderOfPreference() {
        assertEquals(
                List.of(
                        "greedy-by-size",
                        "greedy-by-breadth",
                        "best-fit",
                        "critical-first",
                        "path-cover",
                        "tflite-arena",
                        "greedy-in-order",
                        "longest-first",
                        "naive"),
                Strategies.named("best").stream().map(OffsetStrategy::name).toList());
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
