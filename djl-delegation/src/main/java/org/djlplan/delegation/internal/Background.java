package org.djlplan.delegation.internal;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.djlplan.delegation.internal.Measurement.UnmeasurableException;
import org.djlplan.delegation.internal.Patience.Attempts;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A choice that improves on a background thread shared by all models. It begins with the CPU
 * kernels, and measures; or it begins with a stored table, and measures only if the table does not
 * match the delegate's partitions, or if its measuring was disturbed and the machine is quiet now.
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

    /**
     * Returns a choice that begins with a stored table. Later the delegate reports its partitions
     * for comparison, which takes milliseconds, so that a load need not wait for it.
     *
     * @param measured whether to measure if the partitions differ
     */
    static Choosing confirming(
            ProfileTable kept,
            boolean measured,
            Request request,
            Measurement measurement,
            Patience patience,
            Consumer<DelegationChoice> better) {
        Background background =
                new Background(measurement.stored(kept), request, measurement, patience, better);
        background.schedule(
                () -> {
                    if (!background.confirms(kept)) {
                        background.beginAnew(measured);
                    } else if (measured && kept.caveat().isPresent()) {
                        background.measureAgainWhenQuiet();
                    }
                },
                patience.delay());
        return background;
    }

    private void beginAnew(boolean measured) {
        if (isClosed()) {
            return;
        }
        deliver(request.cpu("the stored result does not match this delegate"));
        if (measured) {
            begin(kept -> true);
        }
    }

    private void measureAgainWhenQuiet() {
        if (patience.quiet().getAsBoolean()) {
            begin(kept -> kept.caveat().isEmpty());
        } else {
            schedule(this::measureAgainWhenQuiet, patience.betweenLooks());
        }
    }

    private boolean confirms(ProfileTable kept) {
        try {
            return measurement.confirms(kept);
        } catch (CandidateException | RuntimeException | LinkageError e) {
            logger.debug("{} stays with the stored result", measurement.file(), e);
            return true;
        }
    }

    private synchronized void schedule(Runnable task, Duration delay) {
        if (!closed) {
            pending = Optional.of(THREAD.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS));
        }
    }

    /** The waiting time starts with the first attempt, not in the queue before it. */
    private void begin(Predicate<ProfileTable> sufficient) {
        attempt(
                patience.attempts(
                        request.longest(),
                        leftNanos ->
                                measurement.attempt(
                                        leftNanos,
                                        Urgency.IN_BACKGROUND,
                                        this::deliver,
                                        sufficient)));
    }

    /** Releases the thread between two attempts, because other models wait for it. */
    private void attempt(Attempts<DelegationChoice> attempts) {
        try {
            boolean last = attempts.isOver();
            Optional<DelegationChoice> choice = attempts.next();
            if (choice.isPresent()) {
                deliver(choice.get());
            } else if (!last) {
                schedule(() -> attempt(attempts), patience.poll());
            } else {
                logger.info(
                        "Another process has been measuring {} for a long time; its choice does"
                                + " not change",
                        measurement.file());
            }
        } catch (InterruptedException e) {
            logger.debug("Measuring {} was cancelled", measurement.file());
        } catch (UnmeasurableException e) {
            stay(e);
        } catch (IOException | RuntimeException | LinkageError e) {
            logger.warn("{} could not be measured", measurement.file(), e);
        }
    }

    /** A verified choice stays verified if no more can be measured. */
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

    private void deliver(DelegationChoice choice) {
        boolean other =
                !choice.candidate().equals(now.candidate())
                        || !choice.lighter().equals(now.lighter())
                        || choice.origin() != now.origin();
        if (!isClosed() && other) {
            now = choice;
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
}
