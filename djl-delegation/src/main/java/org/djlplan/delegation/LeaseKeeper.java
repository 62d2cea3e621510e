package org.djlplan.delegation;

import java.io.IOException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.store.Lease;
import org.djlplan.memplan.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews a lease while a thread measures, and interrupts that when the lease is lost: somebody else
 * may begin soon.
 */
final class LeaseKeeper {

    private static final Logger logger = LoggerFactory.getLogger(LeaseKeeper.class);

    private static final ScheduledThreadPoolExecutor THREAD = newThread();

    private final Lease lease;
    private final Thread measuring;
    private final Future<?> renewing;
    private boolean lost;
    private boolean stopped;

    /** Begins to renew; the calling thread is the one that measures. */
    LeaseKeeper(Lease lease) {
        this.lease = lease;
        measuring = Thread.currentThread();
        long nanos = lease.renewEvery().toNanos();
        renewing = THREAD.scheduleWithFixedDelay(this::renew, nanos, nanos, TimeUnit.NANOSECONDS);
    }

    /** Ends when there is nothing to do: it would keep our classes from being unloaded. */
    private static ScheduledThreadPoolExecutor newThread() {
        ScheduledThreadPoolExecutor thread =
                new ScheduledThreadPoolExecutor(1, DaemonThreads.named("djl-delegation-lease"));
        thread.setKeepAliveTime(1, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
        thread.setRemoveOnCancelPolicy(true);
        return thread;
    }

    private void renew() {
        try {
            lease.renew();
        } catch (IOException e) {
            logger.debug("The lease is not renewed", e);
        }
        synchronized (this) {
            if (!stopped && !lost && !lease.isHeld()) {
                lost = true;
                measuring.interrupt();
            }
        }
    }

    /** Ends renewing, not the lease. Returns whether it was lost, and the thread interrupted. */
    boolean stop() {
        renewing.cancel(false);
        synchronized (this) {
            // What was to be interrupted has ended.
            if (!stopped && lost) {
                boolean unused = Thread.interrupted();
            }
            stopped = true;
            return lost;
        }
    }

    /** Lets others have it, without waiting for the store. */
    void release() {
        boolean unused = stop();
        THREAD.execute(
                () -> {
                    try {
                        lease.release();
                    } catch (IOException e) {
                        // It lapses.
                        logger.debug("The lease is not released", e);
                    }
                });
    }
}
