package org.djlplan.delegation.cli;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.primitives.ImmutableDoubleArray;
import java.util.Locale;

/**
 * An axis of a chart, from 0 or less to the first tick that is not below the largest value.
 *
 * @param label what it shows, with the unit
 * @param low where it begins
 * @param step between ticks
 * @param steps how many
 */
record Axis(String label, double low, double step, int steps) {

    private static final int MOST_STEPS = 8;

    Axis {
        checkArgument(step > 0, "step: %s", step);
        checkArgument(steps > 0, "steps: %s", steps);
    }

    /** Returns an axis from 0 with ticks at multiples of 1, 2 or 5 times a power of ten. */
    static Axis upTo(String label, double most) {
        double least = Math.max(most, 1e-9) / MOST_STEPS;
        double power = Math.pow(10, Math.floor(Math.log10(least)));
        double step = 10 * power;
        for (int factor : new int[] {5, 2, 1}) {
            step = factor * power >= least ? factor * power : step;
        }
        return new Axis(label, 0, step, (int) Math.max(1, Math.ceil(most / step - 1e-9)));
    }

    /** Returns an axis whose ticks are whole numbers, with half a step of room on either side. */
    static Axis whole(String label, int first, int last) {
        return new Axis(label, first - 0.5, 1, Math.max(1, last - first + 1));
    }

    double high() {
        return low + step * steps;
    }

    /** Returns where a value lies: 0 at the beginning, 1 at the end. */
    double part(double value) {
        return (value - low) / (high() - low);
    }

    /** Returns the values that have a tick: those that are a multiple of the step. */
    ImmutableDoubleArray ticks() {
        ImmutableDoubleArray.Builder ticks = ImmutableDoubleArray.builder();
        for (double k = Math.ceil(low / step); k * step <= high() + step * 1e-9; k++) {
            ticks.add(k * step);
        }
        return ticks.build();
    }

    /** Returns the text of a tick, with as many decimals as the step needs. */
    String text(double tick) {
        int decimals = (int) Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
        return String.format(Locale.ROOT, "%." + decimals + "f", tick);
    }
}
