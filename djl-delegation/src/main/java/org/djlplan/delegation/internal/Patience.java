package org.djlplan.delegation.internal;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.djlplan.delegation.internal.Measurement.UnmeasurableException;

/**
 * Waiting times of measuring: before it starts in the background, for another JVM that measures the
 * same, and until the machine is quiet.
 *
 * @param delay after a model was loaded, because a starting application has other work
 * @param grace how long beyond {@value #BUDGETS} time limits to wait for others; the limits allow
 *     for a preceding model and for slow preparation of candidates
 * @param poll between two attempts
 * @param quiet whether the machine has little load
 */
record Patience(Duration delay, Duration grace, Duration poll, BooleanSupplier quiet) {

    /** Interval between two checks of the machine's load: half of its averaging period. */
    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(30);

    /** Largest fraction of busy processors in the one-minute average. */
    private static final double QUIET = .5;

    private static final int BUDGETS = 3;

    static final Patience DEFAULT =
            new Patience(Duration.ofSeconds(2), Duration.ofSeconds(30), Duration.ofMillis(250));

    /** On this machine. */
    Patience(Duration delay, Duration grace, Duration poll) {
        this(delay, grace, poll, Patience::isQuietHere);
    }

    /** Returns whether this machine had little load in the last minute, as far as known. */
    private static boolean isQuietHere() {
        OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
        double busy = system.getSystemLoadAverage();
        return busy >= 0 && busy < QUIET * system.getAvailableProcessors();
    }

    Duration betweenLooks() {
        return BETWEEN_LOOKS;
    }

    /** An attempt to measure while no other process does. */
    @FunctionalInterface
    interface Attempt<T> {
        /**
         * Measures.
         *
         * @param leftNanos how long to wait while this JVM measures other models
         * @return empty if another process measures
         */
        Optional<T> run(long leftNanos)
                throws IOException, InterruptedException, UnmeasurableException;
    }

    /** A series of attempts, from the first one until the time limit. */
    final class Attempts<T> {

        private final Attempt<T> attempt;
        private final long deadlineNanos;

        private Attempts(Attempt<T> attempt, Duration budget) {
            this.attempt = attempt;
            deadlineNanos = System.nanoTime() + budget.multipliedBy(BUDGETS).plus(grace).toNanos();
        }

        /** Returns whether the time limit is reached. */
        boolean isOver() {
            return deadlineNanos - System.nanoTime() <= 0;
        }

        /** Tries once. */
        Optional<T> next() throws IOException, InterruptedException, UnmeasurableException {
            return attempt.run(deadlineNanos - System.nanoTime());
        }

        /** Tries on this thread until there is a result; empty at the time limit. */
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
     * Starts waiting for other processes.
     *
     * @param budget time limit of measuring
     */
    <T> Attempts<T> attempts(Duration budget, Attempt<T> attempt) {
        return new Attempts<>(attempt, budget);
    }
}
