package org.djlplan.cli;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import org.djlplan.thirdparty.guava.math.Quantiles;

/** Order statistics of the times of several predictions. */
final class Statistics {

    private final long[] sortedNanos;

    /**
     * @param nanos at least one duration, in any order
     */
    Statistics(long[] nanos) {
        if (nanos.length == 0) {
            throw new IllegalArgumentException("no times");
        }
        sortedNanos = nanos.clone();
        Arrays.sort(sortedNanos);
    }

    /** Returns the middle time, or the mean of the two in the middle, in milliseconds. */
    double medianMillis() {
        int n = sortedNanos.length;
        return (sortedNanos[(n - 1) / 2] + sortedNanos[n / 2]) / 2.0 / 1e6;
    }

    /** Returns the median of the present values, or empty if there are none. */
    static OptionalDouble median(List<OptionalDouble> values) {
        double[] present = values.stream().flatMapToDouble(OptionalDouble::stream).toArray();
        return present.length == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(Quantiles.median().compute(present));
    }

    /**
     * Returns the smallest time that at least {@code percent} percent of the times do not exceed
     * (the nearest-rank percentile), in milliseconds.
     *
     * @param percent above 0, at most 100
     */
    double percentileMillis(int percent) {
        if (percent < 1 || percent > 100) {
            throw new IllegalArgumentException("not a percentage: " + percent);
        }
        int rank = Math.toIntExact((percent * (long) sortedNanos.length + 99) / 100);
        return sortedNanos[rank - 1] / 1e6;
    }
}
