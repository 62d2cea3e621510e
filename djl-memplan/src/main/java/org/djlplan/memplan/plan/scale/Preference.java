package org.djlplan.memplan.plan.scale;

import java.util.Arrays;

/**
 * Which unit goes first: priorities size^a · life^b, raised for units that were blocked. They are
 * kept as logarithms in fixed point, so that they are the same on every machine.
 */
final class Preference {

    /** Steps of a factor of two. */
    private static final int DOUBLING = 1 << 16;

    /** What being blocked once multiplies a priority by: 8. */
    private static final int BLOCKED = 3 * DOUBLING;

    private static final double LOG_2 = StrictMath.log(2);

    private final int[] priorities;
    private final long scarceBytes;

    /**
     * @param sizeExponent what sizes are raised to, at most 2
     * @param lifeExponent what lives, in moments, are raised to, at most 3
     * @param scarceShare slack below this share of the lower bound is scarce
     */
    Preference(Timeline timeline, int sizeExponent, int lifeExponent, double scarceShare) {
        priorities = new int[timeline.bytes.length];
        Arrays.setAll(
                priorities,
                unit ->
                        1
                                + sizeExponent * doublings(timeline.bytes[unit])
                                + lifeExponent * doublings(timeline.life(unit)));
        scarceBytes = (long) (timeline.boundBytes() * scarceShare);
    }

    private static int doublings(long value) {
        return (int) (StrictMath.log((double) value) / LOG_2 * DOUBLING);
    }

    /** Returns the priority of every unit, positive. */
    int[] priorities() {
        return priorities.clone();
    }

    /** Returns below which slack in bytes units alive at a moment are preferred. */
    long scarceBytes() {
        return scarceBytes;
    }

    /** Raises the priority of a unit that was blocked. */
    void raise(int unit) {
        priorities[unit] += BLOCKED;
    }
}
