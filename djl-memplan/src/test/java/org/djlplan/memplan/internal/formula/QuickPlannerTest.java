package org.djlplan.memplan.internal.formula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.junit.jupiter.api.Test;

class QuickPlannerTest {

    private static final ImmutableLongArray SHAPE = ImmutableLongArray.of(2, 3);

    private static Guess guess(AllocationTrace trace) {
        return LearntShapes.NONE.with(SHAPE, trace).guess(SHAPE).orElseThrow();
    }

    /**
     * Returns a random trace: frees lie between allocations; some blocks are empty, some are never
     * freed.
     */
    private static AllocationTrace random(Random random) {
        int count = random.nextInt(120);
        List<Allocation> allocations = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int life = random.nextInt(random.nextInt(8) == 0 ? 120 : 6);
            allocations.add(
                    new Allocation(
                            random.nextInt(9) == 0 ? 0 : random.nextInt(100_000),
                            2 * i,
                            random.nextInt(15) == 0
                                    ? OptionalInt.empty()
                                    : OptionalInt.of(2 * Math.min(count, i + 1 + life) - 1)));
        }
        return new AllocationTrace(allocations);
    }

    @Test
    void plan_random_isValidForWhoSharesNoCode() {
        Random random = new Random(7);
        for (int round = 0; round < 500; round++) {
            AllocationTrace trace = random(random);
            QuickPlan plan = QuickPlanner.plan(guess(trace)).orElseThrow();
            PlanningProblem problem = trace.problem();
            Map<Integer, Long> offsets = new HashMap<>();
            problem.records()
                    .forEach(record -> offsets.put(record.tensor(), plan.offset(record.tensor())));
            assertEquals(
                    List.of(),
                    PlanValidator.violations(
                            problem, offsets, plan.arenaBytes(), UsageRecords.ALIGNMENT_BYTES));
            assertEquals(LowerBounds.offsetBytes(problem.records()), plan.boundBytes());
            assertTrue(plan.arenaBytes() >= plan.boundBytes());
        }
    }

    @Test
    void plan_unplannableAllocations_areLeftToTheEngine() {
        AllocationTrace trace =
                new AllocationTrace(
                        List.of(
                                new Allocation(0, 0, OptionalInt.of(1)),
                                new Allocation(64, 2, OptionalInt.empty()),
                                new Allocation(100, 4, OptionalInt.of(5))));
        QuickPlan plan = QuickPlanner.plan(guess(trace)).orElseThrow();
        assertEquals(-1, plan.offset(0));
        assertEquals(-1, plan.offset(1));
        assertEquals(0, plan.offset(2));
        assertEquals(128, plan.arenaBytes());
    }

    @Test
    void plan_sizesExceedLong_isEmpty() {
        Allocation huge = new Allocation(Long.MAX_VALUE / 2, 0, OptionalInt.of(1));
        assertTrue(QuickPlanner.plan(guess(new AllocationTrace(List.of(huge)))).isEmpty());
    }

    @Test
    void plan_manyAllocations_isEmptyBecauseItWouldTakeLong() {
        List<Allocation> allocations = new ArrayList<>();
        for (int i = 0; i < QuickPlanner.MOST_ALLOCATIONS; i++) {
            allocations.add(new Allocation(64, 2 * i, OptionalInt.of(2 * i + 1)));
        }
        assertTrue(QuickPlanner.plan(guess(new AllocationTrace(allocations))).isPresent());
        int last = 2 * allocations.size();
        allocations.add(new Allocation(64, last, OptionalInt.of(last + 1)));
        assertTrue(QuickPlanner.plan(guess(new AllocationTrace(allocations))).isEmpty());
    }

    @Test
    void isValid_overlappingAllocations_isFalse() {
        AllocationTrace trace =
                new AllocationTrace(
                        List.of(
                                new Allocation(64, 0, OptionalInt.of(3)),
                                new Allocation(64, 2, OptionalInt.of(5))));
        Guess guess = guess(trace);
        assertTrue(new QuickPlan(guess, new long[] {0, 64}, 128, 128).isValid());
        assertFalse(new QuickPlan(guess, new long[] {0, 0}, 128, 128).isValid());
        assertFalse(new QuickPlan(guess, new long[] {0, 64}, 100, 128).isValid());
        assertFalse(new QuickPlan(guess, new long[] {0, 65}, 256, 128).isValid());
        assertFalse(new QuickPlan(guess, new long[] {-64, 64}, 128, 128).isValid());
    }
}
