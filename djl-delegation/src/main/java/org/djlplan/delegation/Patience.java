package org.djlplan.delegation;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.djlplan.delegation.Measurement.UnmeasurableException;

/**
 * The waits of measuring: before it begins in the background, for another JVM that measures the
 * same, and until the machine is quiet.
 *
 * @param delay after a model was loaded: an application that starts has other things to do
 * @param grace how long beyond {@value #BUDGETS} budgets to wait for others, which cover that
 *     measuring began by another model and that its candidates take longer to prepare than to
 *     measure
 * @param poll between two attempts
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

    Duration betweenLooks() {
        return BETWEEN_LOOKS;
    }

    /** An attempt to measure, while nobody else does. */
    @FunctionalInterface
    interface Attempt<T> {
        /**
         * Measures.
         *
         * @param leftNanos how long to wait for this JVM's measuring of other models
         * @return empty if somebody else measures
         */
        Optional<T> run(long leftNanos)
                throws IOException, InterruptedException, UnmeasurableException;
    }

    /** The attempts at one thing, from the first one until patience ends. */
    final class Attempts<T> {

        private final Attempt<T> attempt;
        private final long deadlineNanos;

        private Attempts(Attempt<T> attempt, Duration budget) {
            this.attempt = attempt;
            deadlineNanos = System.nanoTime() + budget.multipliedBy(BUDGETS).plus(grace).toNanos();
        }

        /** Returns whether there is no time for another one. */
        boolean isOver() {
            return deadlineNanos - System.nanoTime() <= 0;
        }

        /** Tries once. */
        Optional<T> next() throws IOException, InterruptedException, UnmeasurableException {
            return attempt.run(deadlineNanos - System.nanoTime());
        }

        /** Tries until there is a result, on this thread; empty if others measure for long. */
        Optional<T> untilDone() throws IOException, InterruptedException, UnmeasurableException {
            while (!isOver()) {
                Optional<T> result = next();
                if (result.isPresent()) {
                    return result;
                }
                Thread.sleep(poll.toMillis());
            }
            return Optional.empty();
        }
    }

    /**
     * Begins to wait for others.
     *
     * @param budget how long measuring may take
     */
    <T> Attempts<T> attempts(Duration budget, Attempt<T> attempt) {
        return new Attempts<>(attempt, budget);
    }
}
