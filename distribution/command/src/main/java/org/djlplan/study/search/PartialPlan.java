package org.djlplan.study.search;

import java.util.Arrays;

/**
 * A partial plan: units are placed on top of placed units, so only the floor of every section
 * matters: nothing more is placed below it. Changes are recorded on a trail and undone in reverse.
 */
final class PartialPlan {

    /**
     * Units that are not placed yet, and their sections; no other unit reaches into these sections.
     *
     * @param units in any order; {@link Inference} sorts them
     * @param from first section
     * @param to last section
     */
    record Part(int[] units, int from, int to) {}

    final Sections sections;

    /** Per unit: whether it is placed, its offset, and the top of the placed units below it. */
    final boolean[] placed;

    final long[] offset;
    final long[] support;

    /** Per section: its floor, and the sizes of its units that are not placed yet. */
    final long[] floor;

    final long[] open;

    /** Per section: the number of unplaced units that reach into the next section. */
    private final int[] bridges;

    /** The overwritten values: floors by section, supports by number of sections + unit. */
    private int[] trailCells = new int[256];

    private long[] trailValues = new long[256];
    private int trailLength;

    PartialPlan(Sections sections) {
        this.sections = sections;
        placed = new boolean[sections.units];
        offset = new long[sections.units];
        support = new long[sections.units];
        floor = new long[sections.count];
        open = new long[sections.count];
        bridges = new int[sections.count];
        for (int unit = 0; unit < sections.units; unit++) {
            count(unit, 1);
        }
    }

    private void count(int unit, int sign) {
        int last = sections.last[unit];
        long bytes = sign * sections.bytes[unit];
        for (int s = sections.first[unit]; s <= last; s++) {
            open[s] += bytes;
        }
        for (int s = sections.first[unit]; s < last; s++) {
            bridges[s] += sign;
        }
    }

    /** Returns whether no remaining unit reaches from a section into the next one. */
    boolean separateAfter(int section) {
        return bridges[section] == 0;
    }

    /** Returns the lowest offset that is neither occupied nor excluded for a unit. */
    long highestFloor(int unit) {
        long highest = 0;
        for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
            highest = Math.max(highest, floor[s]);
        }
        return highest;
    }

    /** Returns the height below which everything is decided in all sections of a unit. */
    long lowestFloor(int unit) {
        long lowest = Long.MAX_VALUE;
        for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
            lowest = Math.min(lowest, floor[s]);
        }
        return lowest;
    }

    /** Returns a position for {@link #undo}. */
    int mark() {
        return trailLength;
    }

    /**
     * Places a unit.
     *
     * @return whether this raises any remaining unit
     */
    boolean place(int unit, long at) {
        placed[unit] = true;
        offset[unit] = at;
        long top = at + sections.bytes[unit];
        boolean lifts = false;
        for (int other : sections.overlaps[unit]) {
            if (!placed[other] && support[other] < top) {
                remember(sections.count + other, support[other]);
                support[other] = top;
                lifts = true;
            }
        }
        for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
            raise(s, top);
        }
        count(unit, -1);
        return lifts;
    }

    /** Excludes everything below a height in a section. */
    void raise(int section, long height) {
        remember(section, floor[section]);
        floor[section] = height;
    }

    /** Removes the unit that was placed last, and undoes all changes since {@code mark}. */
    void remove(int unit, int mark) {
        count(unit, 1);
        placed[unit] = false;
        undo(mark);
    }

    /** Undoes all raised floors since {@code mark}. */
    void undo(int mark) {
        while (trailLength > mark) {
            trailLength--;
            int cell = trailCells[trailLength];
            if (cell < sections.count) {
                floor[cell] = trailValues[trailLength];
            } else {
                support[cell - sections.count] = trailValues[trailLength];
            }
        }
    }

    private void remember(int cell, long value) {
        if (trailLength == trailCells.length) {
            trailCells = Arrays.copyOf(trailCells, 2 * trailLength);
            trailValues = Arrays.copyOf(trailValues, 2 * trailLength);
        }
        trailCells[trailLength] = cell;
        trailValues[trailLength++] = value;
    }
}
