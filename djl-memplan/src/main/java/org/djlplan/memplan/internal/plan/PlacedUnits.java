package org.djlplan.memplan.internal.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.ToLongBiFunction;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Placed units by offset, and the places that are left for another unit. Placed units never move.
 *
 * <p>The gaps for a unit lie between the placed units that conflict with it. The {@link
 * SmallestGap} is used; if no gap fits, the unit begins where the highest of these units ends. O(n)
 * for n placed units.
 */
public final class PlacedUnits {

    private static final int FIRST_CAPACITY = 64;

    private final boolean onlyIntervalsConflict;
    private final BiPredicate<UsageRecord, UsageRecord> conflict;
    private final List<UsageRecord> units = new ArrayList<>();

    /** The units' first operators, in the order in which the units were added. */
    private int[] first = new int[FIRST_CAPACITY];

    private int[] last = new int[FIRST_CAPACITY];

    private long[] start = new long[FIRST_CAPACITY];

    private long[] end = new long[FIRST_CAPACITY];

    /** The indices of the units, lowest offset first. */
    private int[] byStart = new int[FIRST_CAPACITY];

    /** Creates an empty arena for units that conflict only if their intervals overlap. */
    private PlacedUnits() {
        onlyIntervalsConflict = true;
        conflict = UsageRecord::overlaps;
    }

    /**
     * Creates an empty arena.
     *
     * @param conflict whether two units must not overlap in memory
     */
    public PlacedUnits(BiPredicate<UsageRecord, UsageRecord> conflict) {
        onlyIntervalsConflict = false;
        this.conflict = conflict;
    }

    /**
     * Returns the offset in bytes of every unit, by tensor id, if units are placed in the given
     * order, and conflict only if their intervals overlap.
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    public static Map<Integer, Long> inOrder(List<UsageRecord> units) {
        return new PlacedUnits().inOrder(units, PlacedUnits::smallestGap);
    }

    /**
     * Places more units in the given order, and returns the offset in bytes of each, by tensor id.
     *
     * @param rule returns the offset of a unit
     * @throws ArithmeticException if the arena does not fit into a long
     */
    public Map<Integer, Long> inOrder(
            List<UsageRecord> more, ToLongBiFunction<PlacedUnits, UsageRecord> rule) {
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        for (UsageRecord unit : more) {
            long offset = rule.applyAsLong(this, unit);
            add(unit, offset);
            offsets.put(unit.tensor(), offset);
        }
        return offsets.buildOrThrow();
    }

    private void add(UsageRecord unit, long offsetBytes) {
        int count = units.size();
        if (count == start.length) {
            first = Arrays.copyOf(first, 2 * count);
            last = Arrays.copyOf(last, 2 * count);
            start = Arrays.copyOf(start, 2 * count);
            end = Arrays.copyOf(end, 2 * count);
            byStart = Arrays.copyOf(byStart, 2 * count);
        }
        first[count] = unit.first();
        last[count] = unit.last();
        start[count] = offsetBytes;
        end[count] = UsageRecords.addBytes(offsetBytes, unit.bytes());
        int at = 0;
        for (int high = count; at < high; ) {
            int middle = (at + high) >>> 1;
            if (start[byStart[middle]] < offsetBytes) {
                at = middle + 1;
            } else {
                high = middle;
            }
        }
        System.arraycopy(byStart, at, byStart, at + 1, count - at);
        byStart[at] = count;
        units.add(unit);
    }

    /** Returns the offset in bytes of the smallest gap for a unit. */
    public long smallestGap(UsageRecord unit) {
        SmallestGap gap = new SmallestGap(unit.bytes(), 1);
        for (int i = 0; i < units.size() && !gap.isPerfect(); i++) {
            if (conflicts(unit, byStart[i])) {
                gap.add(start[byStart[i]], end[byStart[i]]);
            }
        }
        return gap.offset();
    }

    /** Returns the offset in bytes at which the last unit ends that conflicts with a unit. */
    public long behindLast(UsageRecord unit) {
        long free = 0;
        for (int other = 0; other < units.size(); other++) {
            if (end[other] > free && conflicts(unit, other)) {
                free = end[other];
            }
        }
        return free;
    }

    private boolean conflicts(UsageRecord unit, int other) {
        return onlyIntervalsConflict
                ? first[other] <= unit.last() && unit.first() <= last[other]
                : conflict.test(unit, units.get(other));
    }
}
