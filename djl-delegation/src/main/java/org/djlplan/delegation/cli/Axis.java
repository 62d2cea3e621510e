package org.djlplan.delegation.cli;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.primitives.ImmutableDoubleArray;
import java.util.Locale;

/**
 * An axis of a chart.
 *
 * @param label what it shows, with the unit
 * @param low the value at its beginning
 * @param high the value at its end
 * @param step between ticks, which are at its multiples
 */
record Axis(String label, double low, double high, double step) {

    private static final int MOST_STEPS = 8;
    private static final int MOST_WHOLE = 20;

    /** Of a step: what rounding may do to a multiple of it. */
    private static final double ROUNDING = 1e-9;

    Axis {
        checkArgument(low < high, "%s to %s", low, high);
        checkArgument(step > 0, "step: %s", step);
    }

    /** Returns an axis from 0 to the first tick that is not below the largest value. */
    static Axis upTo(String label, double most) {
        double step = roundStep(Math.max(most, ROUNDING) / MOST_STEPS);
        return new Axis(label, 0, step * Math.max(1, Math.ceil(most / step - ROUNDING)), step);
    }

    /** Returns an axis of whole numbers, with room for half of one on either side. */
    static Axis whole(String label, int first, int last) {
        double step = Math.max(1, roundStep((double) (last - first) / MOST_WHOLE));
        return new Axis(label, first - 0.5, last + 0.5, step);
    }

    /** Returns the least of 1, 2 and 5 times a power of ten that is not below a value. */
    private static double roundStep(double least) {
        if (least <= 0) {
            return 1;
        }
        double power = Math.pow(10, Math.floor(Math.log10(least)));
        for (int factor : new int[] {1, 2, 5}) {
            if (factor * power >= least) {
                return factor * power;
            }
        }
        return 10 * power;
    }

    /** Returns where a value lies: 0 at the beginning, 1 at the end. */
    double part(double value) {
        return (value - low) / (high - low);
    }

    /** Returns the values that have a tick. */
    ImmutableDoubleArray ticks() {
        ImmutableDoubleArray.Builder ticks = ImmutableDoubleArray.builder();
        for (long k = (long) Math.ceil(low / step); k * step <= high + step * ROUNDING; k++) {
            ticks.add(k * step);
        }
        return ticks.build();
    }

    /** Returns the text of a tick, with as many decimals as the step needs. */
    String text(double tick) {
        int decimals = (int) Math.max(0, -Math.floor(Math.log10(step) + ROUNDING));
        return String.format(Locale.ROOT, "%." + decimals + "f", tick);
    }
}
