package org.djlplan.study.shared;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
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

class SharedStrategiesTest {

    /** Checks the objects, and that the total is the sum of their sizes. */
    private static void assertPlan(
            SharedObjectsStrategy strategy,
            List<UsageRecord> records,
            List<Integer> objects,
            List<Long> sizes) {
        SharedObjectsPlan plan = strategy.plan(new PlanningProblem(records));
        assertEquals(
                objects,
                records.stream().map(r -> plan.objectOf(r.tensor())).toList(),
                plan::strategy);
        assertEquals(sizes, plan.objectBytes(), plan::strategy);
    }

    private static long total(SharedObjectsStrategy strategy, List<UsageRecord> records) {
        return strategy.plan(new PlanningProblem(records)).totalBytes();
    }

    @Test
    void plan_paperExample_reachesTheBoundBySizeAndBreadth() {
        // Pisarchyk and Lee 2020, figures 1 to 4: naive 234, bound 128.
        for (SharedObjectsStrategy strategy :
                List.of(new GreedyBySize(), new GreedyByBreadth(), new GreedyBySizeImproved())) {
            assertPlan(
                    strategy,
                    Vectors.PISARCHYK,
                    List.of(1, 0, 1, 2, 3, 0, 2, 1),
                    List.of(64L, 40L, 16L, 8L));
        }
        assertEquals(128, LowerBounds.sharedObjectBytes(Vectors.PISARCHYK));
        assertEquals(234, total(new Naive(), Vectors.PISARCHYK));
    }

    @Test
    void plan_tfliteOneRecord_isOneObject() {
        // memory_management_test.cc, OneRecord: the same for every strategy.
        for (SharedObjectsStrategy strategy : SharedStrategies.all()) {
            assertPlan(strategy, records(0, 1, 16), List.of(0), List.of(16L));
        }
    }

    @Test
    void plan_noRecords_isEmpty() {
        for (SharedObjectsStrategy strategy : SharedStrategies.all()) {
            assertPlan(strategy, List.of(), List.of(), List.of());
        }
    }

    @Test
    void plan_tfliteChain_givesItsObjects() {
        // memory_management_test.cc, ChainRecords; its GREEDY_BY_SIZE is our GreedyBySizeImproved.
        List<UsageRecord> chain = Vectors.TFLITE_CHAIN;
        List<Integer> inTurn = List.of(0, 1, 0, 1, 0);
        List<Long> two = List.of(64L, 32L);
        assertPlan(new Naive(), chain, List.of(0, 1, 2, 3, 4), List.of(16L, 8L, 64L, 32L, 8L));
        assertPlan(new EqualitySizes(), chain, List.of(0, 1, 2, 3, 1), List.of(16L, 8L, 64L, 32L));
        assertPlan(new GreedyInOrder(), chain, inTurn, two);
        assertPlan(new MinCostFlow(), chain, inTurn, two);
        assertPlan(new GreedyByBreadth(), chain, inTurn, two);
        assertPlan(new GreedyBySizeImproved(), chain, inTurn, two);
        // Algorithm 2, which TFLite does not have: 8 bytes go to the object of 32 bytes, though the
        // one of 16 would fit better.
        assertPlan(new GreedyBySize(), chain, List.of(1, 2, 0, 1, 2), List.of(64L, 32L, 8L));
    }

    @Test
    void plan_tfliteComplex_givesItsObjects() {
        // memory_management_test.cc, ComplexRecords.
        List<UsageRecord> complex = Vectors.TFLITE_COMPLEX;
        assertPlan(
                new Naive(),
                complex,
                List.of(0, 1, 2, 3, 4, 5, 6, 7, 8),
                List.of(32L, 32L, 8L, 16L, 8L, 64L, 8L, 8L, 16L));
        assertPlan(
                new EqualitySizes(),
                complex,
                List.of(0, 1, 2, 3, 4, 5, 4, 2, 3),
                List.of(32L, 32L, 8L, 16L, 8L, 64L));
        assertPlan(
                new GreedyInOrder(),
                complex,
                List.of(0, 1, 0, 2, 3, 1, 3, 2, 0),
                List.of(32L, 64L, 16L, 8L));
        assertPlan(
                new GreedyByBreadth(),
                complex,
                List.of(0, 4, 2, 1, 3, 0, 2, 3, 1),
                List.of(64L, 16L, 8L, 8L, 32L));
        assertPlan(
                new GreedyBySizeImproved(),
                complex,
                List.of(1, 0, 2, 1, 3, 0, 1, 2, 0),
                List.of(64L, 32L, 8L, 8L));
        // TFLite finds 0 1 2 0 3 1 3 2 0: among equal costs its search keeps the first path.
        assertPlan(
                new MinCostFlow(),
                complex,
                List.of(0, 1, 2, 0, 3, 1, 2, 3, 0),
                List.of(32L, 64L, 8L, 8L));
    }

    @Test
    void improved_severalObjectsFree_takesTheOneIdleForLeast() {
        // The last unit follows the first after two operators, the second after four.
        List<UsageRecord> late = records(0, 5, 10, 0, 3, 10, 7, 9, 10);
        assertPlan(new GreedyBySizeImproved(), late, List.of(0, 1, 0), List.of(10L, 10L));
    }

    @Test
    void bySize_severalObjectsFree_takesTheSmallest() {
        List<UsageRecord> records = records(0, 0, 30, 0, 0, 20, 0, 0, 10, 2, 2, 15);
        assertPlan(new GreedyBySize(), records, List.of(0, 1, 2, 1), List.of(30L, 20L, 10L));
    }

    @Test
    void byBreadth_noObjectIsLargeEnough_growsTheLargest() {
        // Operator 0 has breadth 35, operator 2 only 33.
        List<UsageRecord> records = records(0, 0, 20, 0, 0, 15, 2, 2, 33);
        assertPlan(new GreedyByBreadth(), records, List.of(0, 1, 0), List.of(33L, 15L));
    }

    @Test
    void greedy_thirtyThousandRecords_isValid() {
        PlanningProblem problem = new PlanningProblem(Problems.many(30_000));
        // Guards against quadratic time, with which it would seem to hang.
        assertTimeoutPreemptively(
                Duration.ofMinutes(2),
                () -> {
                    for (SharedObjectsStrategy strategy : SharedStrategies.all()) {
                        if (strategy.admits(problem)) {
                            SharedObjectsPlan plan = strategy.plan(problem);
                            assertEquals(List.of(), SharedObjectsValidator.violations(plan));
                        }
                    }
                });
    }

    @Property(tries = 300)
    void plan_anyProblem_isValidAndNotBelowTheBound(@ForAll("problems") PlanningProblem problem) {
        long boundBytes = LowerBounds.sharedObjectBytes(problem.units());
        for (SharedObjectsStrategy strategy : SharedStrategies.all()) {
            SharedObjectsPlan plan = strategy.plan(problem);
            assertEquals(List.of(), SharedObjectsValidator.violations(plan), strategy::name);
            assertEquals(strategy.name(), plan.strategy());
            assertTrue(plan.totalBytes() >= boundBytes, strategy::name);
        }
    }

    @Property(tries = 100)
    void plan_recordsInAnyOrder_isTheSame(
            @ForAll("problems") PlanningProblem problem, @ForAll Random random) {
        List<UsageRecord> shuffled = new ArrayList<>(problem.records());
        Collections.shuffle(shuffled, random);
        PlanningProblem again = new PlanningProblem(shuffled, problem.aliasClasses());
        for (SharedObjectsStrategy strategy : SharedStrategies.all()) {
            assertEquals(strategy.plan(problem).unitObjects(), strategy.plan(again).unitObjects());
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
        assertEquals(alive, new GreedyInOrder().plan(problem).objectBytes().size());
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
