package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;
import java.util.Objects;

/**
 * The measured or estimated time of steps and loads.
 *
 * @param computeNanos nanoseconds of each step
 * @param loadBytesPerNano loaded bytes per nanosecond
 * @param nanosPerLoad time of a load in addition to its bytes
 */
public record StepCosts(long[] computeNanos, double loadBytesPerNano, long nanosPerLoad) {

    public StepCosts {
        computeNanos = computeNanos.clone();
        checkArgument(loadBytesPerNano > 0, "nothing is ever loaded");
    }

    /** Returns costs for planning before any measurement: equal steps. */
    public static StepCosts unknown(int steps) {
        long[] nanos = new long[steps];
        Arrays.fill(nanos, 1_000_000);
        return new StepCosts(nanos, 2, 20_000);
    }

    @Override
    public long[] computeNanos() {
        return computeNanos.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StepCosts costs
                && Arrays.equals(computeNanos, costs.computeNanos)
                && loadBytesPerNano == costs.loadBytesPerNano
                && nanosPerLoad == costs.nanosPerLoad;
    }

    @Override
    public int hashCode() {
        return Objects.hash(Arrays.hashCode(computeNanos), loadBytesPerNano, nanosPerLoad);
    }

    /** Returns the nanoseconds of a step. */
    long computeNanos(int step) {
        return computeNanos[step];
    }

    /** Returns the number of steps. */
    public int steps() {
        return computeNanos.length;
    }

    /** Returns the nanoseconds that a load of {@code bytes} takes. */
    public long loadNanos(long bytes) {
        return nanosPerLoad + (long) Math.ceil(bytes / loadBytesPerNano);
    }
}
