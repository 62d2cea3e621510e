package org.djlplan.delegation.table;

import static com.google.common.base.Preconditions.checkArgument;

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
}
