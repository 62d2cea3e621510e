package org.djlplan.delegation;

import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * How to wait before measuring in the background, and for another JVM that measures the same.
 *
 * @param delay after a model was loaded: an application that starts has other things to do
 * @param grace how long beyond {@value #BUDGETS} budgets, which cover that it began by another
 *     model and that its candidates take longer to prepare than to measure
 * @param poll how long between two looks
 * @param quiet whether the machine has little to do
 */
record Patience(Duration delay, Duration grace, Duration poll, BooleanSupplier quiet) {

    /** Between two looks at the machine's load: half of what its average is over. */
    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(30);

    /** Of its processors that may be busy in the average of a minute. */
    private static final double QUIET = .5;

    private static final int BUDGETS = 3;

    static final Patience DEFAULT =
            new Patience(Duration.ofSeconds(2), Duration.ofSeconds(30), Duration.ofMillis(250));

    Duration betweenLooks() {
        return BETWEEN_LOOKS;
    }

    /** On this machine. */
    Patience(Duration delay, Duration grace, Duration poll) {
        this(delay, grace, poll, Patience::isQuietHere);
    }

    /** Returns whether this machine had little to do in the last minute, as far as is known. */
    private static boolean isQuietHere() {
        OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
        double busy = system.getSystemLoadAverage();
        return busy >= 0 && busy < QUIET * system.getAvailableProcessors();
    }

    /** Returns how long to wait in all. */
    long nanos(Duration budget) {
        return budget.multipliedBy(BUDGETS).plus(grace).toNanos();
    }
}
