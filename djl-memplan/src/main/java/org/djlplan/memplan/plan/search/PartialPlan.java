package org.djlplan.memplan.plan.search;

import java.util.Arrays;

/**
 * A partial plan: units are placed on top of what is placed already, so that all that matters of it
 * is the floor of every section, below which nothing more is placed. Changes are kept on a trail
 * and undone in reverse.
 */
final class PartialPlan {

    /**
     * Units that are not placed yet, and the sections that hold them; no unit outside reaches in.
     *
     * @param units in any order; {@link Inference} sorts them
     * @param from first section
     * @param to last section
     */
    record Part(int[] units, int from, int to) {}

    final Sections sections;

    /** Per unit: whether it is placed, and where, and the top of what is placed below it. */
    final boolean[] placed;

    final long[] offset;
    final long[] support;

    /** Per section: its floor, and the sizes of its units that are not placed yet. */
    final long[] floor;

    final long[] open;

    /** Per section: how many units not placed yet reach into the next one. */
    private final int[] bridges;

    /** What was overwritten: floors by section, supports by number of sections + unit. */
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

    /** Returns whether no unit left over reaches from a section into the next one. */
    boolean separateAfter(int section) {
        return bridges[section] == 0;
    }

    /** Returns the least offset at which nothing is placed nor was ruled out for a unit. */
    long highestFloor(int unit) {
        long highest = 0;
        for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
            highest = Math.max(highest, floor[s]);
        }
        return highest;
    }

    /** Returns the height up to which everything is decided in all of a unit's sections. */
    long lowestFloor(int unit) {
        long lowest = Long.MAX_VALUE;
        for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
            lowest = Math.min(lowest, floor[s]);
        }
        return lowest;
    }

    /** Returns what {@link #undo} goes back to. */
    int mark() {
        return trailLength;
    }

    /**
     * Places a unit.
     *
     * @return whether this lifts any unit that is left over
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

    /** Rules out everything below a height in a section. */
    void raise(int section, long height) {
        remember(section, floor[section]);
        floor[section] = height;
    }

    /** Takes away the unit that was placed last, and all changes since {@code mark}. */
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
