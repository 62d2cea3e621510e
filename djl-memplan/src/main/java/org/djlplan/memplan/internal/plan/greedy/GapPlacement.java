package org.djlplan.memplan.internal.plan.greedy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Puts units one after another into the smallest gap that fits, and never moves them again
 * (Pisarchyk and Lee 2020, section 5.2, Algorithm 3). Gaps lie between placed units that overlap
 * the unit in time. On a tie the lowest gap is taken; if no gap fits, the unit begins where the
 * highest of these units ends.
 *
 * <p>Placed units are stored by offset in {@link Windows} of time; placing a unit scans one window.
 * With k units alive in a window of at most four times the unit's interval, that costs O(k), and
 * inserting the unit costs O(k) for each window in which it is alive; the longer units live, the
 * fewer windows there are. So the time is O(n·k), or O(n²) if most units overlap most others.
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
     * Returns the offset in bytes of every unit, by tensor id, if they are placed in the given
     * order.
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

    /**
     * Windows of time, each with the placed units that are alive in it, by offset.
     *
     * <p>On each level time is divided into buckets, and a window is a bucket and the next one. The
     * coarsest level has one window; the buckets of each further level are half as long. The window
     * of a unit is the shortest one that contains its interval: at most four times as long as the
     * interval, unless the windows of the finest level are longer. The finest level is chosen to
     * minimize the estimated total cost of inserting units into windows and scanning windows.
     */
    private static final class Windows {

        /** For fewer units, scanning one window costs less than choosing among levels. */
        private static final int FEWEST_UNITS = 512;

        /** Cost of finding the position in a window, in scanned units. */
        private static final int ENTERING = 32;

        /** Number of units that can be moved in the time of scanning one. */
        private static final int MOVED = 16;

        /** The units of one window. */
        static final class Window {

            private static final int SMALLEST = 8;

            private int[] units;
            private int count;

            private Window(int capacity) {
                units = new int[capacity];
            }

            /** Returns the number of units. */
            int count() {
                return count;
            }

            /** Returns the unit that is number {@code i} by offset. */
            int unit(int i) {
                return units[i];
            }

            private void enter(int unit, long[] offsets) {
                if (count == units.length) {
                    units = Arrays.copyOf(units, 2 * count);
                }
                int at = count;
                for (int low = 0; low < at; ) {
                    int middle = (low + at) >>> 1;
                    if (offsets[units[middle]] < offsets[unit]) {
                        low = middle + 1;
                    } else {
                        at = middle;
                    }
                }
                System.arraycopy(units, at, units, at + 1, count - at);
                units[at] = unit;
                count++;
            }
        }

        /** First operator of every unit; with levels, the index of the start there. */
        private final int[] first;

        /** Last operator of every unit; with levels, the index of the last start up to there. */
        private final int[] last;

        /** The finest level is number 0; a level's buckets are 2^(finest + number) starts long. */
        private final int finest;

        private final Window[][] levels;

        /**
         * @param units all units that will be placed; they are identified by their index from here
         *     on
         */
        Windows(List<UsageRecord> units) {
            first = new int[units.size()];
            last = new int[units.size()];
            for (int i = 0; i < first.length; i++) {
                first[i] = units.get(i).first();
                last[i] = units.get(i).last();
            }
            if (first.length < FEWEST_UNITS) {
                finest = Integer.SIZE - 1;
                levels = new Window[][] {{new Window(first.length)}};
                return;
            }
            int end = countStarts();
            int coarsest = Integer.SIZE - Integer.numberOfLeadingZeros(end);
            finest = cheapest(coarsest, end);
            levels = new Window[coarsest - finest + 1][];
            for (int level = 0; level < levels.length; level++) {
                levels[level] = new Window[(end >> (finest + level)) + 1];
                Arrays.setAll(levels[level], i -> new Window(Window.SMALLEST));
            }
        }

        /** Replaces operators by indices of starts, and returns the largest index. */
        private int countStarts() {
            int[] starts = Arrays.stream(first).sorted().distinct().toArray();
            Arrays.setAll(first, i -> Arrays.binarySearch(starts, first[i]));
            Arrays.setAll(last, i -> atMost(starts, last[i]));
            return starts.length - 1;
        }

        private static int atMost(int[] starts, int operator) {
            int found = Arrays.binarySearch(starts, operator);
            return found >= 0 ? found : -found - 2;
        }

        /** Returns a window that contains all placed units overlapping {@code unit}. */
        Window around(int unit) {
            int level = levels.length == 1 ? 0 : Math.max(0, level(unit) - finest);
            return levels[level][first[unit] >> (finest + level)];
        }

        /** Returns whether two units overlap. */
        boolean overlap(int unit, int other) {
            return first[other] <= last[unit] && first[unit] <= last[other];
        }

        /**
         * Enters a placed unit.
         *
         * @param offsets in bytes of all placed units
         */
        void enter(int unit, long[] offsets) {
            for (int level = 0; level < levels.length; level++) {
                int shift = finest + level;
                int from = Math.max(0, (first[unit] >> shift) - 1);
                for (int i = from; i <= last[unit] >> shift; i++) {
                    levels[level][i].enter(unit, offsets);
                }
            }
        }

        /**
         * Returns the logarithm of the shortest bucket length at which a bucket and the next one
         * hold a unit.
         */
        private int level(int unit) {
            int level = 0;
            while ((last[unit] >> level) - (first[unit] >> level) > 1) {
                level++;
            }
            return level;
        }

        private int cheapest(int coarsest, int end) {
            long least = Long.MAX_VALUE;
            int found = coarsest;
            long entered = 0;
            long gone = 0;
            for (int level = coarsest; level >= 0 && entered < least; level--) {
                long[] sizes = sizes(level, (end >> level) + 1);
                for (long size : sizes) {
                    entered += size * (ENTERING + size / (2 * MOVED));
                }
                long goneFiner = 0;
                for (int unit = 0; unit < first.length; unit++) {
                    long half = sizes[first[unit] >> level] / 2;
                    int own = level(unit);
                    gone += own == level ? half : 0;
                    goneFiner += own < level ? half : 0;
                }
                if (entered + gone + goneFiner < least) {
                    least = entered + gone + goneFiner;
                    found = level;
                }
            }
            return found;
        }

        /** Returns the final number of units in each window of a level. */
        private long[] sizes(int level, int windows) {
            long[] changes = new long[windows + 1];
            for (int unit = 0; unit < first.length; unit++) {
                changes[Math.max(0, (first[unit] >> level) - 1)]++;
                changes[(last[unit] >> level) + 1]--;
            }
            Arrays.parallelPrefix(changes, Long::sum);
            return Arrays.copyOf(changes, windows);
        }
    }
}
