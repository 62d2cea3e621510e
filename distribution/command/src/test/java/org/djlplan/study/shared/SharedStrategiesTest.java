package org.djlplan.study.shared;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.djlplan.memplan.internal.plan.Attempt;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.OffsetStrategyContract;
import org.djlplan.memplan.testing.Vectors;
import org.junit.jupiter.api.Test;

class SharedStrategiesTest extends OffsetStrategyContract {

    @Override
    protected List<OffsetStrategy> strategies() {
        return SharedStrategies.all();
    }

    private static OffsetStrategy named(String name) {
        return SharedStrategies.all().stream()
                .filter(strategy -> strategy.name().equals("shared-" + name))
                .findFirst()
                .orElseThrow();
    }

    /** Checks which units share objects, and the sizes of these in the order of first use. */
    private static void assertPlan(
            String strategy, List<UsageRecord> records, List<Integer> objects, List<Long> sizes) {
        OffsetPlan plan = named(strategy).plan(new PlanningProblem(records));
        List<Long> offsets = records.stream().map(r -> plan.offsetOf(r.tensor())).toList();
        assertEquals(byFirstUse(objects), byFirstUse(offsets), strategy);
        List<Long> inOrder = objects.stream().distinct().map(sizes::get).toList();
        List<Long> found = SharedObjects.objectBytes(plan);
        List<Long> starts = offsets.stream().distinct().sorted().toList();
        assertEquals(
                inOrder,
                offsets.stream().distinct().map(start -> found.get(starts.indexOf(start))).toList(),
                strategy);
    }

    private static List<Integer> byFirstUse(List<?> objects) {
        List<?> distinct = objects.stream().distinct().toList();
        return objects.stream().map(distinct::indexOf).toList();
    }

    private static long total(String strategy, List<UsageRecord> records) {
        return named(strategy).plan(new PlanningProblem(records)).totalBytes();
    }

    @Test
    void all_areInOrderOfPreference() {
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
                SharedStrategies.all().stream().map(OffsetStrategy::name).toList());
    }

    @Test
    void attempts_aboveThePositionalMaxima_areOptimalByProof() {
        // With objects of 5 and 3 bytes, the third unit would have to be where the fourth belongs.
        PlanningProblem problem = new PlanningProblem(records(0, 1, 5, 1, 3, 3, 3, 5, 3, 5, 6, 5));
        assertEquals(8, LowerBounds.sharedObjectBytes(problem.units()));
        for (Attempt attempt :
                SharedStrategies.attempts(SharedStrategies.all(), List.of(problem))) {
            assertEquals(10, attempt.lowerBoundBytes());
        }
        Attempt inOrder =
                SharedStrategies.attempts(List.of(named("greedy-in-order")), List.of(problem))
                        .get(0);
        assertEquals(8, inOrder.lowerBoundBytes());
        assertFalse(inOrder.provedMinimal());
    }

    @Property(tries = 100)
    void attempts_aliasedVariant_isMarkedAndHasABoundOfItsOwn(
            @ForAll("problems") PlanningProblem problem) {
        PlanningProblem plain = new PlanningProblem(problem.records());
        for (Attempt attempt :
                SharedStrategies.attempts(SharedStrategies.all(), List.of(plain, problem))) {
            assertTrue(attempt.valid());
            assertTrue(attempt.lowerBoundBytes() <= attempt.plan().totalBytes());
            assertEquals(
                    !attempt.plan().problem().aliasClasses().isEmpty(),
                    attempt.name().endsWith("+in-place"));
        }
    }

    @Test
    void plan_paperExample_reachesTheBoundBySizeAndBreadth() {
        // Pisarchyk and Lee 2020, figures 1 to 4: naive 234, bound 128.
        for (String strategy :
                List.of("greedy-by-size", "greedy-by-breadth", "greedy-by-size-improved")) {
            assertPlan(
                    strategy,
                    Vectors.PISARCHYK,
                    List.of(1, 0, 1, 2, 3, 0, 2, 1),
                    List.of(64L, 40L, 16L, 8L));
        }
        assertEquals(128, LowerBounds.sharedObjectBytes(Vectors.PISARCHYK));
        assertEquals(234, total("naive", Vectors.PISARCHYK));
    }

    @Test
    void plan_tfliteChain_givesItsObjects() {
        // memory_management_test.cc, ChainRecords; its GREEDY_BY_SIZE is our GreedyBySizeImproved.
        List<UsageRecord> chain = Vectors.TFLITE_CHAIN;
        List<Integer> inTurn = List.of(0, 1, 0, 1, 0);
        List<Long> two = List.of(64L, 32L);
        assertPlan("naive", chain, List.of(0, 1, 2, 3, 4), List.of(16L, 8L, 64L, 32L, 8L));
        assertPlan("equality", chain, List.of(0, 1, 2, 3, 1), List.of(16L, 8L, 64L, 32L));
        assertPlan("greedy-in-order", chain, inTurn, two);
        assertPlan("min-cost-flow", chain, inTurn, two);
        assertPlan("greedy-by-breadth", chain, inTurn, two);
        assertPlan("greedy-by-size-improved", chain, inTurn, two);
        // Algorithm 2, which TFLite does not have: 8 bytes go to the object of 32 bytes, though the
        // one of 16 would fit better.
        assertPlan("greedy-by-size", chain, List.of(1, 2, 0, 1, 2), List.of(64L, 32L, 8L));
    }

    @Test
    void plan_tfliteComplex_givesItsObjects() {
        // memory_management_test.cc, ComplexRecords.
        List<UsageRecord> complex = Vectors.TFLITE_COMPLEX;
        assertPlan(
                "naive",
                complex,
                List.of(0, 1, 2, 3, 4, 5, 6, 7, 8),
                List.of(32L, 32L, 8L, 16L, 8L, 64L, 8L, 8L, 16L));
        // TFLite finds 0 1 2 3 4 5 4 2 3: of objects of one size it takes the last that became
        // free, and we the oldest.
        assertPlan(
                "equality",
                complex,
                List.of(0, 1, 2, 3, 4, 5, 2, 4, 3),
                List.of(32L, 32L, 8L, 16L, 8L, 64L));
        assertPlan(
                "greedy-in-order",
                complex,
                List.of(0, 1, 0, 2, 3, 1, 3, 2, 0),
                List.of(32L, 64L, 16L, 8L));
        assertPlan(
                "greedy-by-breadth",
                complex,
                List.of(0, 4, 2, 1, 3, 0, 2, 3, 1),
                List.of(64L, 16L, 8L, 8L, 32L));
        assertPlan(
                "greedy-by-size-improved",
                complex,
                List.of(1, 0, 2, 1, 3, 0, 1, 2, 0),
                List.of(64L, 32L, 8L, 8L));
        // TFLite finds 0 1 2 0 3 1 3 2 0: among equal costs its search keeps the first path.
        assertPlan(
                "min-cost-flow",
                complex,
                List.of(0, 1, 2, 0, 3, 1, 2, 3, 0),
                List.of(32L, 64L, 8L, 8L));
    }

    @Test
    void improved_severalObjectsFree_takesTheOneIdleForLeast() {
        // The last unit follows the first after two operators, the second after four.
        List<UsageRecord> late = records(0, 5, 10, 0, 3, 10, 7, 9, 10);
        assertPlan("greedy-by-size-improved", late, List.of(0, 1, 0), List.of(10L, 10L));
    }

    @Test
    void bySize_severalObjectsFree_takesTheSmallest() {
        List<UsageRecord> records = records(0, 0, 30, 0, 0, 20, 0, 0, 10, 2, 2, 15);
        assertPlan("greedy-by-size", records, List.of(0, 1, 2, 1), List.of(30L, 20L, 10L));
    }

    @Test
    void byBreadth_noObjectIsLargeEnough_growsTheLargest() {
        // Operator 0 has breadth 35, operator 2 only 33.
        List<UsageRecord> records = records(0, 0, 20, 0, 0, 15, 2, 2, 33);
        assertPlan("greedy-by-breadth", records, List.of(0, 1, 0), List.of(33L, 15L));
    }

    /** Objects that lie end to end must not be used by units that are alive at once. */
    @Property(tries = 300)
    void plan_anyProblem_isNotBelowThePositionalMaxima(
            @ForAll("problems") PlanningProblem problem) {
        for (OffsetStrategy strategy : SharedStrategies.all()) {
            OffsetPlan plan = strategy.plan(problem);
            assertEquals(
                    plan.totalBytes(),
                    SharedObjects.objectBytes(plan).stream().mapToLong(Long::longValue).sum());
            assertTrue(
                    plan.totalBytes() >= LowerBounds.sharedObjectBytes(problem.units()),
                    strategy::name);
        }
    }

    @Property(tries = 300)
    void inOrder_anyProblem_needsNoMoreObjectsThanAreAliveAtOnce(
            @ForAll("problems") PlanningProblem problem) {
        int alive = 0;
        for (int operator = 0; operator < 20; operator++) {
            int at = operator;
            alive =
                    Math.max(
                            alive,
                            (int)
                                    problem.units().stream()
                                            .filter(u -> u.first() <= at && at <= u.last())
                                            .count());
        }
        assertEquals(
                alive, SharedObjects.objectBytes(named("greedy-in-order").plan(problem)).size());
    }
}
