package org.djlplan.memplan.measure;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.math.LongMath;
import java.time.Duration;
import org.djlplan.memplan.spi.DelegableModel.Urgency;

/**
 * How long a process may take, and how many may die.
 *
 * @param start until it runs Java code
 * @param prepare to open the model, to look for partitions, or to prepare a candidate
 * @param leastTiming to time or profile, however fast the candidate was before
 * @param multiple how many times slower than ever before a candidate may be
 * @param restarts how many processes may follow the first one
 */
record Limits(Duration start, Duration prepare, Duration leastTiming, int multiple, int restarts) {

    static final Limits DEFAULT =
            new Limits(
                    Duration.ofSeconds(20), Duration.ofSeconds(30), Duration.ofSeconds(10), 20, 8);

    /** Of a process that others go before, which may hardly run for a while. */
    private static final Limits PATIENT =
            new Limits(
                    Duration.ofMinutes(10),
                    Duration.ofMinutes(15),
                    Duration.ofMinutes(10),
                    20 * 50,
                    DEFAULT.restarts());

    static Limits of(Urgency urgency) {
        return urgency == Urgency.IN_BACKGROUND ? PATIENT : DEFAULT;
    }

    Limits {
        checkArgument(multiple > 0, "multiple: %s", multiple);
        checkArgument(restarts >= 0, "restarts: %s", restarts);
    }

    /**
     * Returns how long inferences may take.
     *
     * @param slowestNanos the slowest of the candidate until now
     */
    Duration timing(int inferences, long slowestNanos) {
        long runs = inferences + 1L;
        long nanos =
                LongMath.saturatedMultiply(
                        LongMath.saturatedMultiply(runs, slowestNanos), multiple);
        return nanos > leastTiming.toNanos() ? Duration.ofNanos(nanos) : leastTiming;
    }
}
