package org.djlplan.study.criticalfirst;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.plan.greedy.Naive;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.junit.jupiter.api.Test;

class TighteningTest {

    /** Two tensors that overlap, below a third that overlaps only the second. */
    private final MomentTable timeline = new MomentTable(records(0, 3, 4, 2, 6, 3, 5, 9, 4));

    private static MomentTable.Layout sideBySide(MomentTable timeline) {
        long[] offsets = new long[timeline.bytes.length];
        long free = 0;
        for (int unit = 0; unit < offsets.length; unit++) {
            offsets[unit] = free;
            free += timeline.bytes[unit];
        }
        return new MomentTable.Layout(timeline, offsets, free);
    }

    @Test
    void repair_gapBelow_movesTheUnitOnTop() {
        long[] before = sideBySide(timeline).offsets();
        Tightening.Repair repair =
                new Tightening.Repair(timeline, new MomentTable.Neighbours(timeline), before, 7);
        assertTrue(repair.succeeds(1_000));
        assertArrayEquals(new long[] {0, 4, 0}, repair.offsets());
        assertArrayEquals(new long[] {0, 4, 7}, before);
        assertTrue(repair.cost() > 0);
    }

    @Test
    void repair_unitsInTheWay_movesThem() {
        // Tensor 0 must get below 5: the tensors that are alive with it go on top of it.
        MomentTable column = new MomentTable(records(0, 9, 4, 3, 4, 1, 6, 7, 1));
        Tightening.Repair repair =
                new Tightening.Repair(
                        column, new MomentTable.Neighbours(column), new long[] {1, 0, 0}, 5);
        assertTrue(repair.succeeds(1_000));
        Tightening.Repair lower =
                new Tightening.Repair(
                        column, new MomentTable.Neighbours(column), new long[] {2, 0, 1}, 5);
        assertTrue(lower.succeeds(1_000));
        assertEquals(5, Math.max(lower.offsets()[0] + 4, lower.offsets()[1] + 1));
    }

    @Test
    void repair_impossible_endsAtItsCost() {
        MomentTable.Layout layout = sideBySide(timeline);
        Tightening.Repair repair =
                new Tightening.Repair(
                        timeline, new MomentTable.Neighbours(timeline), layout.offsets(), 6);
        assertFalse(repair.succeeds(10_000));
        assertTrue(repair.cost() < 10_100);
    }

    @Test
    void repair_arenaOfExabytes_isLeftAlone() {
        long bytes = Long.MAX_VALUE / 4;
        MomentTable huge =
                new MomentTable(
                        List.of(
                                new UsageRecord(0, 0, 1, bytes),
                                new UsageRecord(1, 0, 3, bytes),
                                new UsageRecord(2, 2, 3, bytes)));
        MomentTable.Layout layout = sideBySide(huge);
        assertSame(layout, new Tightening(new MomentTable.Neighbours(huge), 1_000).of(layout));
    }

    @Property(tries = 300)
    void neighbours_anyUnit_areThoseThatOverlap(@ForAll("problems") PlanningProblem problem) {
        if (problem.units().isEmpty()) {
            return;
        }
        MomentTable any = new MomentTable(problem.units());
        MomentTable.Neighbours neighbours = new MomentTable.Neighbours(any);
        for (int unit = 0; unit < any.bytes.length; unit++) {
            int from = any.from[unit];
            int to = any.to[unit];
            List<Integer> found = new ArrayList<>();
            neighbours.forEach(unit, found::add);
            assertEquals(
                    IntStream.range(0, any.bytes.length)
                            .filter(other -> any.from[other] < to && from < any.to[other])
                            .boxed()
                            .toList(),
                    found);
        }
    }

    @Property(tries = 300)
    void tightening_sideBySide_staysValidAndGrowsNot(@ForAll("problems") PlanningProblem problem) {
        if (problem.units().isEmpty()) {
            return;
        }
        MomentTable any = new MomentTable(problem.units());
        MomentTable.Layout naive = sideBySide(any);
        MomentTable.Layout tight =
                new Tightening(new MomentTable.Neighbours(any), 100_000).of(naive);
        OffsetPlan plan = OffsetPlan.ofUnits("tight", problem, tight.byUnit());
        assertEquals(List.of(), PlanValidator.violations(plan, 1));
        assertEquals(tight.totalBytes(), plan.totalBytes());
        assertEquals(naive.totalBytes(), new Naive().plan(problem).totalBytes());
        assertTrue(tight.totalBytes() <= naive.totalBytes());
        assertTrue(tight.totalBytes() >= any.boundBytes());
        assertEquals(tight.totalBytes() == any.boundBytes(), tight.isMinimal());
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
