package org.djlplan.delegation.internal;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.djlplan.delegation.internal.Measurement.UnmeasurableException;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A choice that is improved by measuring on a background thread, which all models share. It begins
 * with the CPU kernels, and measures; or it begins with a stored table, and measures only if other
 * work disturbed the table's measurement, and the machine is quiet now.
 */
final class Background implements Choosing {

    private static final Logger logger = LoggerFactory.getLogger(Background.class);

    private static final ScheduledThreadPoolExecutor THREAD = newThread();

    private final DelegationChoice first;
    private final Request request;
    private final Measurement measurement;
    private final Patience patience;
    private final Consumer<DelegationChoice> better;

    private Optional<Future<?>> pending = Optional.empty();
    private boolean closed;

    /** The choice with which the model currently runs, as far as known. */
    private volatile DelegationChoice now;

    private Background(
            DelegationChoice first,
            Request request,
            Measurement measurement,
            Patience patience,
            Consumer<DelegationChoice> better) {
        this.first = first;
        this.now = first;
        this.request = request;
        this.measurement = measurement;
        this.patience = patience;
        this.better = better;
    }

    /**
     * The thread ends when it is idle, because it would prevent the unloading of djl-plan's
     * classes.
     */
    private static ScheduledThreadPoolExecutor newThread() {
        ScheduledThreadPoolExecutor thread =
                new ScheduledThreadPoolExecutor(1, DaemonThreads.named("djl-delegation"));
        thread.setKeepAliveTime(1, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
        thread.setRemoveOnCancelPolicy(true);
        return thread;
    }

    /** Returns a choice that begins with the CPU kernels; a better one is measured later. */
    static Choosing measuring(
            Request request,
            Measurement measurement,
            Patience patience,
            Consumer<DelegationChoice> better) {
        DelegationChoice first = request.cpu("it is being measured");
        Background background = new Background(first, request, measurement, patience, better);
        background.schedule(() -> background.begin(kept -> true), patience.delay());
        return background;
    }

    /** Returns a choice that was measured while the model was loaded. */
    static Choosing settled(
            DelegationChoice choice, Request request, Measurement measurement, Patience patience) {
        return new Background(choice, request, measurement, patience, unused -> {});
    }

    /**
     * Returns a choice that begins with a stored table.
     *
     * @param measured whether to measure again if other work disturbed the table's measurement
     */
    static Choosing stored(
            ProfileTable kept,
            boolean measured,
            Request request,
            Measurement measurement,
            Patience patience,
            Consumer<DelegationChoice> better) {
        Background background =
                new Background(measurement.stored(kept), request, measurement, patience, better);
        if (measured && kept.caveat().isPresent()) {
            background.schedule(background::measureAgainWhenQuiet, patience.delay());
        }
        return background;
    }

    private void measureAgainWhenQuiet() {
        if (patience.quiet().getAsBoolean()) {
            begin(kept -> kept.caveat().isEmpty());
        } else {
            schedule(this::measureAgainWhenQuiet, patience.betweenLooks());
        }
    }

    private synchronized void schedule(Runnable task, Duration delay) {
        if (!closed) {
            pending = Optional.of(THREAD.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS));
        }
    }

    /** The waiting time starts with the first attempt, not in the queue before it. */
    private void begin(Predicate<ProfileTable> sufficient) {
        attempt(patience.deadlineNanos(request.longest()), sufficient);
    }

    /** Releases the thread between two attempts, because other models wait for it. */
    private void attempt(long deadlineNanos, Predicate<ProfileTable> sufficient) {
        try {
            long leftNanos = deadlineNanos - System.nanoTime();
            Optional<DelegationChoice> choice =
                    measurement.attempt(
                            leftNanos, Urgency.IN_BACKGROUND, this::deliver, sufficient);
            if (choice.isPresent()) {
                deliver(choice.get());
            } else if (leftNanos > 0) {
                schedule(() -> attempt(deadlineNanos, sufficient), patience.poll());
            } else {
                logger.info(
                        "Another process has been measuring {} for a long time; its choice does"
                                + " not change",
                        measurement.file());
                stay("another process has been measuring it for a long time");
            }
        } catch (InterruptedException e) {
            logger.debug("Measuring {} was cancelled", measurement.file());
        } catch (UnmeasurableException e) {
            stay(e);
        } catch (IOException | RuntimeException | LinkageError e) {
            logger.warn("{} could not be measured", measurement.file(), e);
            stay("it could not be measured: " + e.getMessage());
        }
    }

    /** Keeps a verified choice, and replaces an unverified one by the CPU kernels. */
    private void stay(UnmeasurableException why) {
        if (now.origin() == DelegationReport.Origin.UNVERIFIED) {
            deliver(measurement.unmeasured(why));
        } else {
            logger.info(
                    "{} stays with the verified operators: {}",
                    measurement.file(),
                    why.getMessage());
        }
    }

    private void stay(String why) {
        if (now.origin() == DelegationReport.Origin.UNVERIFIED) {
            deliver(request.cpu(why));
        }
    }

    private void deliver(DelegationChoice choice) {
        if (!isClosed() && !choice.equals(now)) {
            better.accept(choice);
            // The choice counts as settled when it serves, not before.
            now = choice;
        }
    }

    @Override
    public void withdraw(String why) {
        try {
            measurement.withdraw(why);
        } catch (RuntimeException e) {
            logger.debug("{} will be compared again", measurement.file(), e);
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public DelegationChoice first() {
        return first;
    }

    @Override
    public synchronized boolean isSettled() {
        return now.origin() != DelegationReport.Origin.UNVERIFIED
                || closed
                || pending.map(Future::isDone).orElse(true);
    }

    @Override
    public synchronized void close() {
        closed = true;
        pending.ifPresent(future -> future.cancel(true));
    }

    /**
     * Waiting times of measuring: before it starts in the background, for another JVM that measures
     * the same model, and until the machine is quiet.
     *
     * @param delay time between a load and measuring, because a starting application has other work
     * @param grace how long to wait for other measurements to end, in addition to {@value #BUDGETS}
     *     time limits, which allow for a preceding model and for slow preparation of candidates
     * @param poll time between two attempts
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

        /**
         * Returns until when to wait for other processes, as {@link System#nanoTime}.
         *
         * @param budget time limit of measuring
         */
        long deadlineNanos(Duration budget) {
            return System.nanoTime() + budget.multipliedBy(BUDGETS).plus(grace).toNanos();
        }

        /** Tries on this thread until there is a result; empty at the time limit. */
        <T> Optional<T> untilDone(Duration budget, Attempt<T> attempt)
                throws IOException, InterruptedException, UnmeasurableException {
            long deadlineNanos = deadlineNanos(budget);
            Optional<T> result = Optional.empty();
            for (long left = deadlineNanos - System.nanoTime();
                    result.isEmpty() && left > 0;
                    left = deadlineNanos - System.nanoTime()) {
                result = attempt.run(left);
                if (result.isEmpty()) {
                    Thread.sleep(poll.toMillis());
                }
            }
            return result;
        }
    }
}
