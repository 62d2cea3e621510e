package org.djlplan.memplan.plan.scale;

/**
 * Where all units of a timeline lie.
 *
 * @param offsets offset in bytes of every unit of the timeline; not to be changed
 * @param totalBytes size of the arena
 */
record Layout(Timeline timeline, long[] offsets, long totalBytes) {

    /** Returns whether no layout is smaller. */
    boolean isMinimal() {
        return totalBytes == timeline.boundBytes();
    }

    /** Returns the offset in bytes of every unit, in the problem's order of units. */
    long[] byUnit() {
        long[] result = new long[offsets.length];
        for (int i = 0; i < offsets.length; i++) {
            result[timeline.index[i]] = offsets[i];
        }
        return result;
    }
}
