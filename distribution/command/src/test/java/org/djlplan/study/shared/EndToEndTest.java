package org.djlplan.study.shared;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.testing.Problems;
import org.djlplan.memplan.testing.Vectors;
import org.junit.jupiter.api.Test;

class EndToEndTest {

    private static long[] offsets(List<Long> objectBytes, int... objects) {
        long[] starts = EndToEnd.starts(objectBytes);
        return Arrays.stream(objects).mapToLong(object -> starts[object]).toArray();
    }

    @Test
    void starts_tfliteVectors_giveItsOffsets() {
        // memory_management_test.cc, ObjectsAssignmentToOffsets; in the last case, object 4 is
        // unused.
        assertArrayEquals(new long[] {0}, offsets(List.of(16L), 0));
        assertArrayEquals(new long[] {0, 0, 0}, offsets(List.of(16L), 0, 0, 0));
        List<Long> sizes = List.of(16L, 8L, 32L, 32L, 4L, 16L);
        assertArrayEquals(
                new long[] {24, 0, 24, 16, 56, 56, 16, 92}, offsets(sizes, 2, 0, 2, 1, 3, 3, 1, 5));
        assertEquals(108, EndToEnd.starts(sizes)[6]);
    }

    @Test
    void plan_paperExample_laysObjectsSideBySide() {
        OffsetPlan plan =
                new EndToEnd(new GreedyBySize()).plan(new PlanningProblem(Vectors.PISARCHYK));
        assertEquals("shared-greedy-by-size-end-to-end", plan.strategy());
        assertEquals(128, plan.totalBytes());
        assertEquals(
                List.of(64L, 0L, 64L, 104L, 120L, 0L, 104L, 64L),
                LongStream.range(0, 8).mapToObj(i -> plan.offsetOf((int) i)).toList());
    }

    @Test
    void admits_always_equalsStrategysAdmits() {
        EndToEnd flow = new EndToEnd(new MinCostFlow());
        assertEquals(new MinCostFlow().largestProblem(), flow.largestProblem());
        assertTrue(flow.admits(new PlanningProblem(Vectors.PISARCHYK)));
    }

    @Property(tries = 200)
    void plan_anyProblem_isAsLargeAsTheObjects(@ForAll("problems") PlanningProblem problem) {
        for (SharedObjectsStrategy strategy : SharedStrategies.all()) {
            assertEquals(
                    strategy.plan(problem).totalBytes(),
                    new EndToEnd(strategy).plan(problem).totalBytes());
        }
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
