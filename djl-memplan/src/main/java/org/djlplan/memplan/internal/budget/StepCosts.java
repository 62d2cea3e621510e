package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * The measured or estimated time of steps and loads.
 *
 * @param computeNanos nanoseconds of each step
 * @param loadBytesPerNano loaded bytes per nanosecond
 * @param nanosPerLoad time of a load in addition to its bytes
 */
public record StepCosts(
        ImmutableLongArray computeNanos, double loadBytesPerNano, long nanosPerLoad) {

    private static final long MOST_NANOS = 1L << 40;

    public StepCosts {
        checkArgument(
                nanosPerLoad >= 0 && loadBytesPerNano >= 1e-9 && Double.isFinite(loadBytesPerNano),
                "loads of %s bytes per nanosecond",
                loadBytesPerNano);
        // Sums do not overflow.
        checkArgument(
                computeNanos.stream().allMatch(nanos -> nanos >= 0 && nanos <= MOST_NANOS),
                "steps of more than %s ns",
                MOST_NANOS);
    }

    public StepCosts(long[] computeNanos, double loadBytesPerNano, long nanosPerLoad) {
        this(ImmutableLongArray.copyOf(computeNanos), loadBytesPerNano, nanosPerLoad);
    }

    /** Returns costs for planning before any measurement: equal steps. */
    public static StepCosts unknown(int steps) {
        long[] nanos = new long[steps];
        Arrays.fill(nanos, 1_000_000);
        return new StepCosts(nanos, 2, 20_000);
    }

    /** Returns the nanoseconds of a step. */
    long computeNanos(int step) {
        return computeNanos.get(step);
    }

    /** Returns the number of steps. */
    public int steps() {
        return computeNanos.length();
    }

    /** Returns the nanoseconds that a load of {@code bytes} takes. */
    public long loadNanos(long bytes) {
        return nanosPerLoad + (long) Math.ceil(bytes / loadBytesPerNano);
    }
}
