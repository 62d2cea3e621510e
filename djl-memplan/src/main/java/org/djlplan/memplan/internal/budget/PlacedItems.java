package org.djlplan.memplan.internal.budget;

import java.util.Arrays;

/**
 * Placed items by offset, in windows of steps: a search for a gap scans only the items of one
 * window, the shortest that contains the steps in question.
 *
 * <p>On each level, steps are divided into buckets of equal length, and a window is a bucket and
 * the next one. So a search scans a window that has at most 2·r times as many steps as needed,
 * where r is the ratio of the lengths of buckets on two successive levels.
 */
final class PlacedItems {

    /** Logarithms of the lengths of buckets; on the last level one window holds all steps. */
    private static final int[] SHIFTS = {4, 7, 31};

    private static final int SMALLEST = 16;

    /** The items of one window. */
    static final class Window {

        private int[] items = new int[SMALLEST];
        private int count;

        /** Returns the number of items. */
        int count() {
            return count;
        }

        /** Returns the item at position {@code i} by offset. */
        int item(int i) {
            return items[i];
        }

        private void add(int item, long[] offsets) {
            if (count == items.length) {
                items = Arrays.copyOf(items, 2 * count);
            }
            int at = count++;
            for (; at > 0 && offsets[items[at - 1]] > offsets[item]; at--) {
                items[at] = items[at - 1];
            }
            items[at] = item;
        }

        private void remove(int item) {
            int kept = 0;
            for (int i = 0; i < count; i++) {
                items[kept] = items[i];
                kept += items[i] == item ? 0 : 1;
            }
            count = kept;
        }
    }

    private final Window[][] levels = new Window[SHIFTS.length][];

    PlacedItems(int steps) {
        for (int level = 0; level < levels.length; level++) {
            levels[level] = new Window[(steps >> SHIFTS[level]) + 1];
            Arrays.setAll(levels[level], i -> new Window());
        }
    }

    /** Removes all items. */
    void clear() {
        for (Window[] level : levels) {
            for (Window window : level) {
                window.count = 0;
            }
        }
    }

    /** Returns the items of all steps. */
    Window all() {
        return levels[levels.length - 1][0];
    }

    /** Returns a window that contains all items of some steps. */
    Window around(int first, int last) {
        int level = 0;
        while ((last >> SHIFTS[level]) - (first >> SHIFTS[level]) > 1) {
            level++;
        }
        return levels[level][first >> SHIFTS[level]];
    }

    /**
     * Adds an item of some steps.
     *
     * @param offsets in bytes of all items
     */
    void add(int item, int first, int last, long[] offsets) {
        for (int level = 0; level < levels.length; level++) {
            int shift = SHIFTS[level];
            for (int i = Math.max(0, (first >> shift) - 1); i <= last >> shift; i++) {
                levels[level][i].add(item, offsets);
            }
        }
    }

    /** Removes an item of some steps. */
    void remove(int item, int first, int last) {
        for (int level = 0; level < levels.length; level++) {
            int shift = SHIFTS[level];
            for (int i = Math.max(0, (first >> shift) - 1); i <= last >> shift; i++) {
                levels[level][i].remove(item);
            }
        }
    }
}
