package org.djlplan.memplan.plan.conflict;

import com.google.common.collect.ImmutableMap;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * Puts units one after another where no unit already placed that is in conflict lies, and never
 * moves them. Every unit is compared with all that are placed: O(n²) for n units.
 */
final class ConflictPlacement {

    /** Units that are placed in a few seconds. */
    static final int LARGEST_PROBLEM = 16_384;

    private record Placed(UsageRecord unit, long startBytes, long endBytes) {}

    private static final Comparator<Placed> BY_START =
            Comparator.comparingLong(Placed::startBytes)
                    .thenComparingInt(placed -> placed.unit().tensor());

    private final PlanningProblem problem;

    /** By offset. */
    private final List<Placed> all = new ArrayList<>();

    private ConflictPlacement(PlanningProblem problem) {
        this.problem = problem;
    }

    /**
     * Returns the offset in bytes of every unit, by tensor id: the smallest gap that fits between
     * units in conflict, of equal gaps the lowest, else right behind the last of them (the rule of
     * Pisarchyk and Lee 2020, section 5.2, with conflicts for overlapping intervals).
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    static Map<Integer, Long> smallestGap(PlanningProblem problem, List<UsageRecord> order) {
        ConflictPlacement placement = new ConflictPlacement(problem);
        return place(placement, order, placement::smallestGap);
    }

    /**
     * Returns the offset in bytes of every unit, by tensor id: right behind the last unit in
     * conflict, whatever gaps there are before it (TVM's rule).
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    static Map<Integer, Long> behindLast(PlanningProblem problem, List<UsageRecord> order) {
        ConflictPlacement placement = new ConflictPlacement(problem);
        return place(placement, order, placement::behindLast);
    }

    private static Map<Integer, Long> place(
            ConflictPlacement placement,
            List<UsageRecord> order,
            ToLongFunction<UsageRecord> rule) {
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        for (UsageRecord unit : order) {
            long offset = rule.applyAsLong(unit);
            long end = UsageRecords.addBytes(offset, unit.bytes());
            Placed placed = new Placed(unit, offset, end);
            placement.all.add(
                    -Collections.binarySearch(placement.all, placed, BY_START) - 1, placed);
            offsets.put(unit.tensor(), offset);
        }
        return offsets.buildOrThrow();
    }

    private long smallestGap(UsageRecord unit) {
        long free = 0;
        long bestStart = 0;
        long bestGap = Long.MAX_VALUE;
        boolean found = false;
        for (Placed placed : all) {
            if (problem.conflict(unit, placed.unit)) {
                long gap = placed.startBytes - free;
                if (gap >= unit.bytes() && gap < bestGap) {
                    bestGap = gap;
                    bestStart = free;
                    found = true;
                }
                free = Math.max(free, placed.endBytes);
            }
        }
        return found ? bestStart : free;
    }

    private long behindLast(UsageRecord unit) {
        long free = 0;
        for (Placed placed : all) {
            if (placed.endBytes > free && problem.conflict(unit, placed.unit)) {
                free = placed.endBytes;
            }
        }
        return free;
    }
}
