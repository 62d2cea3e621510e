package org.djlplan.study.shared;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.djlplan.memplan.testing.Vectors;
import org.junit.jupiter.api.Test;

class SharedObjectsPortfolioTest {

    private static final PlanningProblem PAPER = new PlanningProblem(Vectors.PISARCHYK);

    /** With objects of 5 and 3 bytes, the third unit would have to be where the fourth belongs. */
    private static final PlanningProblem ABOVE_THE_BOUND =
            new PlanningProblem(records(0, 1, 5, 1, 3, 3, 3, 5, 3, 5, 6, 5));

    /** Puts all units into one object, which is valid for a single unit only. */
    private record AllInOne(int largestProblem) implements SharedObjectsStrategy {
        @Override
        public String name() {
            return "all-in-one";
        }

        @Override
        public SharedObjectsPlan plan(PlanningProblem problem) {
            Map<Integer, Integer> objects =
                    problem.units().stream()
                            .collect(Collectors.toMap(UsageRecord::tensor, unit -> 0));
            return new SharedObjectsPlan(name(), problem, objects);
        }
    }

    private static List<SharedAttempt> all(PlanningProblem... variants) {
        return new SharedObjectsPortfolio(SharedStrategies.all()).attempts(List.of(variants));
    }

    @Test
    void attempts_everyStrategy_hasItsName() {
        assertEquals(
                List.of(
                        "shared-greedy-by-size-improved",
                        "shared-greedy-by-size",
                        "shared-greedy-by-breadth",
                        "shared-greedy-in-order",
                        "shared-min-cost-flow",
                        "shared-equality",
                        "shared-naive",
                        "shared-optimal"),
                all(PAPER).stream().map(SharedAttempt::name).toList());
        for (SharedObjectsStrategy strategy : SharedStrategies.all()) {
            assertEquals(Optional.of(strategy), SharedStrategies.named(strategy.name()));
        }
        assertEquals(Optional.empty(), SharedStrategies.named("greedy-by-size"));
    }

    @Test
    void smallest_equalTotals_keepsTheFirst() {
        SharedAttempt best = SharedObjectsPortfolio.smallest(all(PAPER)).orElseThrow();
        assertEquals("shared-greedy-by-size-improved", best.name());
        assertEquals(128, best.plan().totalBytes());
        assertTrue(best.provedMinimal());
    }

    @Test
    void attempts_aboveThePositionalMaxima_areOptimalByProof() {
        assertEquals(8, LowerBounds.sharedObjectBytes(ABOVE_THE_BOUND.units()));
        List<SharedAttempt> attempts = all(ABOVE_THE_BOUND);
        for (SharedAttempt attempt : attempts) {
            assertEquals(10, attempt.lowerBoundBytes());
            assertEquals(attempt.plan().totalBytes() == 10, attempt.provedMinimal());
        }
        assertEquals(
                10, SharedObjectsPortfolio.smallest(attempts).orElseThrow().plan().totalBytes());
    }

    @Test
    void attempts_withoutASearch_knowThePositionalMaximaOnly() {
        SharedObjectsStrategy inOrder =
                SharedStrategies.named("shared-greedy-in-order").orElseThrow();
        SharedAttempt attempt =
                new SharedObjectsPortfolio(List.of(inOrder))
                        .attempts(List.of(ABOVE_THE_BOUND))
                        .get(0);
        assertEquals(8, attempt.lowerBoundBytes());
        assertFalse(attempt.provedMinimal());
    }

    @Test
    void smallest_onlyInvalidPlans_isEmpty() {
        List<SharedAttempt> attempts =
                new SharedObjectsPortfolio(List.of(new AllInOne(100))).attempts(List.of(PAPER));
        assertFalse(attempts.get(0).valid());
        assertFalse(attempts.get(0).provedMinimal());
        assertEquals(Optional.empty(), SharedObjectsPortfolio.smallest(attempts));
    }

    @Test
    void attempts_notAdmitted_areNone() {
        assertEquals(
                List.of(),
                new SharedObjectsPortfolio(List.of(new AllInOne(7))).attempts(List.of(PAPER)));
    }

    @Property(tries = 100)
    void attempts_aliasedVariant_isMarkedAndHasABoundOfItsOwn(
            @ForAll("problems") PlanningProblem problem) {
        PlanningProblem plain = new PlanningProblem(problem.records());
        for (SharedAttempt attempt : all(plain, problem)) {
            assertTrue(attempt.valid());
            assertTrue(attempt.lowerBoundBytes() <= attempt.plan().totalBytes());
            assertEquals(
                    !attempt.plan().problem().aliasClasses().isEmpty(),
                    attempt.name().endsWith("+in-place"));
        }
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
