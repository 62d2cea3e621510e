package org.djlplan.memplan.internal.plan.greedy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Placed units by offset, and the places that are left for another unit. Placed units never move.
 *
 * <p>The gaps for a unit lie between the placed units that conflict with it. The smallest gap that
 * fits is used (Pisarchyk and Lee 2020, section 5.2, Algorithm 3), on a tie the lowest; if no gap
 * fits, the unit begins where the highest of these units ends. O(n) for n placed units.
 */
public final class PlacedUnits {

    /** A unit and the bytes that it occupies, half-open. */
    private record Place(UsageRecord unit, long startBytes, long endBytes) {}

    private final BiPredicate<UsageRecord, UsageRecord> conflict;
    private final List<Place> byStart = new ArrayList<>();

    /**
     * @param conflict whether two units must not overlap in memory
     */
    public PlacedUnits(BiPredicate<UsageRecord, UsageRecord> conflict) {
        this.conflict = conflict;
    }

    /**
     * Returns the offset in bytes of every unit, by tensor id, if units are placed in the given
     * order and conflict if their intervals overlap.
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    public static Map<Integer, Long> inOrder(List<UsageRecord> units) {
        PlacedUnits placed = new PlacedUnits(UsageRecord::overlaps);
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        for (UsageRecord unit : units) {
            long offset = placed.smallestGap(unit);
            placed.add(unit, offset);
            offsets.put(unit.tensor(), offset);
        }
        return offsets.buildOrThrow();
    }

    /**
     * Adds a unit that is placed at an offset.
     *
     * @throws ArithmeticException if its end does not fit into a long
     */
    public void add(UsageRecord unit, long offsetBytes) {
        long end = UsageRecords.addBytes(offsetBytes, unit.bytes());
        int low = 0;
        for (int high = byStart.size(); low < high; ) {
            int middle = (low + high) >>> 1;
            if (byStart.get(middle).startBytes < offsetBytes) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        byStart.add(low, new Place(unit, offsetBytes, end));
    }

    /** Returns the offset in bytes of the smallest gap for a unit. */
    public long smallestGap(UsageRecord unit) {
        long free = 0;
        long best = 0;
        long bestBytes = Long.MAX_VALUE;
        for (Place place : byStart) {
            if (conflict.test(unit, place.unit)) {
                long gap = place.startBytes - free;
                if (gap >= unit.bytes() && gap < bestBytes) {
                    bestBytes = gap;
                    best = free;
                }
                free = Math.max(free, place.endBytes);
            }
        }
        return bestBytes == Long.MAX_VALUE ? free : best;
    }

    /** Returns the offset in bytes at which the last unit ends that conflicts with a unit. */
    public long behindLast(UsageRecord unit) {
        long free = 0;
        for (Place place : byStart) {
            if (place.endBytes > free && conflict.test(unit, place.unit)) {
                free = place.endBytes;
            }
        }
        return free;
    }
}
