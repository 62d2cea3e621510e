package org.djlplan.delegation;

import java.time.Duration;

/**
 * How to wait before measuring in the background, and for another JVM that measures the same.
 *
 * @param delay after a model was loaded: an application that starts has other things to do
 * @param grace how long beyond {@value #BUDGETS} budgets, which cover that it began by another
 *     model and that its candidates take longer to prepare than to measure
 * @param poll how long between two looks
 */
record Patience(Duration delay, Duration grace, Duration poll) {

    private static final int BUDGETS = 3;

    static final Patience DEFAULT =
            new Patience(Duration.ofSeconds(2), Duration.ofSeconds(30), Duration.ofMillis(250));

    /** Returns how long to wait in all. */
    long nanos(Duration budget) {
        return budget.multipliedBy(BUDGETS).plus(grace).toNanos();
    }
}
