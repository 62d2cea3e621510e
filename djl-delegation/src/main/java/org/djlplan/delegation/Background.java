package org.djlplan.delegation;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins with one choice and finds a better one on a thread that all models share: begins with a
 * prediction and measures; or begins with what was kept, and measures only if that was not of the
 * delegate's partitions.
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

    /** What the model runs with, as far as we know. */
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

    /** Ends when there is nothing to do: it would keep our classes from being unloaded. */
    private static ScheduledThreadPoolExecutor newThread() {
        ScheduledThreadPoolExecutor thread =
                new ScheduledThreadPoolExecutor(
                        1,
                        new ThreadFactoryBuilder()
                                .setDaemon(true)
                                .setNameFormat("djl-delegation-%d")
                                .build());
        thread.setKeepAliveTime(1, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
        thread.setRemoveOnCancelPolicy(true);
        return thread;
    }

    /** Begins with a prediction; a better choice is measured later. */
    static Choosing measuring(
            DelegationChoice predicted,
            Request request,
            Measurement measurement,
            Patience patience,
            Consumer<DelegationChoice> better) {
        Background background = new Background(predicted, request, measurement, patience, better);
        background.schedule(background::begin, patience.delay());
        return background;
    }

    /**
     * Begins with what was kept. Later the delegate is asked whether it offers that: this takes
     * milliseconds, for which a load does not wait.
     *
     * @param unmeasured what to run with if it does not
     * @param measured whether to measure then
     */
    static Choosing confirming(
            ProfileTable kept,
            Supplier<DelegationChoice> unmeasured,
            boolean measured,
            Request request,
            Measurement measurement,
            Patience patience,
            Consumer<DelegationChoice> better) {
        Background background =
                new Background(Measurement.stored(kept), request, measurement, patience, better);
        background.schedule(
                () -> {
                    if (!background.confirms(kept)) {
                        background.beginAnew(unmeasured.get(), measured);
                    }
                },
                patience.delay());
        return background;
    }

    private void beginAnew(DelegationChoice unmeasured, boolean measured) {
        if (isClosed()) {
            return;
        }
        now = unmeasured;
        better.accept(unmeasured);
        if (measured) {
            begin();
        }
    }

    private boolean confirms(ProfileTable kept) {
        try {
            return measurement.confirms(kept);
        } catch (CandidateException | RuntimeException | LinkageError e) {
            logger.debug("{} stays with what was kept", request.model().file(), e);
            return true;
        }
    }

    private synchronized void schedule(Runnable task, Duration delay) {
        if (!closed) {
            pending = Optional.of(THREAD.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS));
        }
    }

    /** The wait for others begins with the first attempt, not in the queue before it. */
    private void begin() {
        attempt(System.nanoTime() + patience.nanos(request.budget()));
    }

    private void attempt(long deadlineNanos) {
        try {
            long leftNanos = deadlineNanos - System.nanoTime();
            Optional<DelegationChoice> choice =
                    measurement.attempt(leftNanos, Urgency.IN_BACKGROUND);
            if (choice.isPresent()) {
                deliver(choice.get());
            } else if (leftNanos > 0) {
                schedule(() -> attempt(deadlineNanos), patience.poll());
            } else {
                logger.info(
                        "Another process measures {} for long; it stays as predicted",
                        request.model().file());
            }
        } catch (InterruptedException e) {
            logger.debug("Measuring {} was cancelled", request.model().file());
        } catch (UnmeasurableException e) {
            // What was predicted will not be verified: it is not to stay.
            deliver(measurement.unmeasured(e));
        } catch (IOException | RuntimeException | LinkageError e) {
            logger.warn("{} could not be measured", request.model().file(), e);
        }
    }

    private void deliver(DelegationChoice choice) {
        if (!isClosed() && !choice.candidate().equals(now.candidate())) {
            better.accept(choice);
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
    public synchronized void close() {
        closed = true;
        pending.ifPresent(future -> future.cancel(true));
    }
}
