package org.djlplan.memplan.internal.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.memplan.testing.Problems;
import org.djlplan.memplan.testing.Vectors;
import org.junit.jupiter.api.Test;

class PortfolioTest {

    private static final PlanningProblem PAPER = new PlanningProblem(Vectors.PISARCHYK);

    /** Puts all units at offset 0, which is valid for a single unit only. */
    private static OffsetStrategy allAtZero(int largestProblem) {
        return new OffsetStrategy(
                "all-at-zero",
                largestProblem,
                problem ->
                        problem.units().stream()
                                .collect(Collectors.toMap(UsageRecord::tensor, unit -> 0L)));
    }

    @Test
    void best_equalTotals_keepsTheFirst() {
        Attempt best = new Portfolio(Portfolio.STRATEGIES, 1).best(List.of(PAPER));
        assertEquals("greedy-by-size", best.name());
        assertEquals(124, best.plan().totalBytes());
        assertEquals(124, best.lowerBoundBytes());
    }

    @Test
    void best_invalidPlan_isNeverUsed() {
        Portfolio portfolio = new Portfolio(List.of(allAtZero(100)), 1);
        assertFalse(portfolio.attempts(List.of(PAPER)).get(0).valid());
        assertEquals("naive", portfolio.best(List.of(PAPER)).name());
        assertEquals(234, portfolio.best(List.of(PAPER)).plan().totalBytes());
    }

    @Test
    void attempts_tooLargeAProblem_areLeftOut() {
        Portfolio portfolio = new Portfolio(List.of(allAtZero(7)), 1);
        assertEquals(List.of(), portfolio.attempts(List.of(PAPER)));
        assertEquals("naive", portfolio.best(List.of(PAPER)).name());
    }

    @Test
    void best_misalignedPlan_isNeverUsed() {
        Portfolio portfolio = new Portfolio(List.of(Greedy.BY_SIZE), 64);
        assertFalse(portfolio.attempts(List.of(PAPER)).get(0).valid());
    }

    @Test
    void plan_inPlaceChain_needsOnePlace() {
        EvaluatedPlan plain = MemoryPlanner.plan(GraphSketch.chain(), InPlace.FALSE);
        assertEquals("greedy-by-size", plain.strategy());
        assertEquals(128, plain.plan().totalBytes());
        assertEquals(0, plain.aliasedTensors());

        EvaluatedPlan inPlace = MemoryPlanner.plan(GraphSketch.chain(), InPlace.TRUE);
        assertEquals("greedy-by-size+in-place", inPlace.strategy());
        assertEquals(64, inPlace.plan().totalBytes());
        assertEquals(192, inPlace.naiveBytes());
        assertEquals(128, inPlace.lowerBoundBytes());
        assertEquals(2, inPlace.aliasedTensors());
        assertEquals(List.of(), PlanValidator.violations(inPlace.plan(), 64));
    }

    @Test
    void plan_nothingToShare_prefersThePlainPlan() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(4);
        int a = sketch.tensor(4);
        int output = sketch.tensor(4);
        sketch.operator("CONV_2D", a, input).operator("CONV_2D", output, a).output(output);
        assertEquals(
                "naive",
                MemoryPlanner.plan(sketch.build(), List.of(Greedy.NAIVE), InPlace.TRUE).strategy());
        assertEquals("greedy-by-size", MemoryPlanner.plan(sketch.build(), InPlace.TRUE).strategy());
    }

    @Test
    void plan_emptyGraph_needsNothing() {
        EvaluatedPlan planned = MemoryPlanner.plan(new GraphSketch().build(), InPlace.TRUE);
        assertEquals(0, planned.plan().totalBytes());
        assertEquals(0, planned.naiveBytes());
        assertEquals(0, planned.lowerBoundBytes());
    }

    @Property(tries = 200)
    void best_anyProblem_isNoLargerThanAnyValidPlan(@ForAll("problems") PlanningProblem problem) {
        PlanningProblem plain = new PlanningProblem(problem.records());
        Portfolio portfolio = new Portfolio(Portfolio.STRATEGIES, 1);
        List<PlanningProblem> variants = List.of(plain, problem);
        Attempt best = portfolio.best(variants);
        assertTrue(best.valid());
        for (Attempt attempt : portfolio.attempts(variants)) {
            assertTrue(attempt.valid());
            assertTrue(best.plan().totalBytes() <= attempt.plan().totalBytes());
        }
        assertEquals(best.plan().unitOffsets(), portfolio.best(variants).plan().unitOffsets());
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
