package org.djlplan.delegation.table;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.math.Quantiles;
import java.util.Map;

/**
 * Latency of a candidate.
 *
 * @param medianNanos of one inference
 * @param lowNanos lower quartile
 * @param highNanos upper quartile
 * @param samples how many inferences were timed
 */
public record Latency(long medianNanos, long lowNanos, long highNanos, int samples) {

    public Latency {
        checkArgument(samples > 0, "samples: %s", samples);
        checkArgument(
                0 <= lowNanos && lowNanos <= medianNanos && medianNanos <= highNanos,
                "%s, %s, %s nanoseconds",
                lowNanos,
                medianNanos,
                highNanos);
    }

    /**
     * Returns the latency that some inferences showed.
     *
     * @param nanos of each, at least one
     */
    public static Latency of(long[] nanos) {
        Map<Integer, Double> quartiles = Quantiles.quartiles().indexes(1, 2, 3).compute(nanos);
        return new Latency(
                Math.round(quartiles.get(2)),
                Math.round(quartiles.get(1)),
                Math.round(quartiles.get(3)),
                nanos.length);
    }
}
