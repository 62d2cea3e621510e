package org.djlplan.memplan.plan.greedy;

import com.google.common.collect.ImmutableMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * Puts units one after another into the smallest gap that fits, and never moves them (Pisarchyk and
 * Lee 2020, section 5.2, Algorithm 3). Gaps lie between the units already placed that are alive at
 * some common operator; of equal gaps the lowest is taken; without one that fits, the unit goes
 * right behind the last of them.
 *
 * <p>Placed units are kept by offset in {@link Windows} of time; placing a unit goes through one of
 * them. k units alive in a window at most four times as long as the unit's interval cost O(k), and
 * entering it O(k) for each of the windows that it is alive in, of which there are the fewer the
 * longer units live. So the time is O(n·k); where most units overlap most others, O(n²).
 */
final class GapPlacement {

    private final Windows windows;
    private final long[] start;
    private final long[] end;

    private GapPlacement(List<UsageRecord> units) {
        windows = new Windows(units);
        start = new long[units.size()];
        end = new long[units.size()];
    }

    /**
     * Returns the offset in bytes of every unit, by tensor id, when they are placed in the order
     * given.
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    static Map<Integer, Long> inOrder(List<UsageRecord> units) {
        GapPlacement placement = new GapPlacement(units);
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        for (int i = 0; i < units.size(); i++) {
            UsageRecord unit = units.get(i);
            offsets.put(unit.tensor(), placement.place(i, unit.bytes()));
        }
        return offsets.buildOrThrow();
    }

    private long place(int unit, long bytes) {
        Windows.Window around = windows.around(unit);
        long free = 0;
        long bestStart = 0;
        long bestGap = Long.MAX_VALUE;
        boolean found = false;
        for (int i = 0; i < around.count() && !(found && bestGap == bytes); i++) {
            int other = around.unit(i);
            if (windows.overlap(unit, other)) {
                long gap = start[other] - free;
                if (gap >= bytes && gap < bestGap) {
                    bestGap = gap;
                    bestStart = free;
                    found = true;
                }
                free = Math.max(free, end[other]);
            }
        }
        start[unit] = found ? bestStart : free;
        end[unit] = UsageRecords.addBytes(start[unit], bytes);
        windows.enter(unit, start);
        return start[unit];
    }
}
