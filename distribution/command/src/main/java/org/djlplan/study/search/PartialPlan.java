package org.djlplan.study.search;

import java.util.Arrays;

/**
 * A partial plan: units are placed on top of placed units, so only the floor of every section
 * matters: nothing more is placed below it. Changes of floors are recorded on a trail and undone in
 * reverse.
 */
final class PartialPlan {

    private final Sections sections;

    /** Per unit: whether it is placed, and its offset. */
    final boolean[] placed;

    final long[] offset;

    /** Per section: its floor, and the sizes of its units that are not placed yet. */
    final long[] floor;

    final long[] open;

    /** The overwritten floors, and their sections. */
    private int[] trailSections = new int[256];

    private long[] trailFloors = new long[256];
    private int trailLength;

    PartialPlan(Sections sections) {
        this.sections = sections;
        placed = new boolean[sections.units];
        offset = new long[sections.units];
        floor = new long[sections.count];
        open = new long[sections.count];
        for (int unit = 0; unit < sections.units; unit++) {
            count(unit, 1);
        }
    }

    private void count(int unit, int sign) {
        for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
            open[s] += sign * sections.bytes[unit];
        }
    }

    /** Returns the lowest offset that is neither occupied nor excluded for a unit. */
    long highestFloor(int unit) {
        long highest = 0;
        for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
            highest = Math.max(highest, floor[s]);
        }
        return highest;
    }

    /** Returns a position for {@link #undo}. */
    int mark() {
        return trailLength;
    }

    /** Places a unit. */
    void place(int unit, long at) {
        placed[unit] = true;
        offset[unit] = at;
        for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
            raise(s, at + sections.bytes[unit]);
        }
        count(unit, -1);
    }

    /** Excludes everything below a height in a section. */
    void raise(int section, long height) {
        if (trailLength == trailSections.length) {
            trailSections = Arrays.copyOf(trailSections, 2 * trailLength);
            trailFloors = Arrays.copyOf(trailFloors, 2 * trailLength);
        }
        trailSections[trailLength] = section;
        trailFloors[trailLength++] = floor[section];
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
            floor[trailSections[trailLength]] = trailFloors[trailLength];
        }
    }
}
