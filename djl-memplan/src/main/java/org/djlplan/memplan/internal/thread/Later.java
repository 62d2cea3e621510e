package org.djlplan.memplan.internal.thread;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs djl-plan's work in the background: short work on one thread, such as freeing idle resources;
 * and work that may take long, or wait, on threads of its own. All these threads end when there is
 * no work, because a thread retains the class loader of its code.
 */
public final class Later {

    private static final Logger logger = LoggerFactory.getLogger(Later.class);
    private static final ScheduledThreadPoolExecutor THREAD = thread();

    private Later() {}

    private static ScheduledThreadPoolExecutor thread() {
        ScheduledThreadPoolExecutor executor =
                new ScheduledThreadPoolExecutor(1, DaemonThreads.named("djl-plan-later"));
        executor.setKeepAliveTime(100, TimeUnit.MILLISECONDS);
        executor.allowCoreThreadTimeOut(true);
        // A cancelled task would retain the class loader of its code.
        executor.setRemoveOnCancelPolicy(true);
        return executor;
    }

    /** Runs short work after a while. */
    public static void run(Duration after, Runnable work) {
        Future<?> unused = schedule(after, work);
    }

    /**
     * Runs short work after a while, unless it is cancelled before. If no thread can be started
     * now, the work cannot be cancelled, and runs with the next work that has a thread.
     */
    public static Future<?> schedule(Duration after, Runnable work) {
        try {
            return THREAD.schedule(work, after.toNanos(), TimeUnit.NANOSECONDS);
        } catch (OutOfMemoryError e) {
            // The executor has queued it.
            logger.debug("no thread can be started", e);
            return CompletableFuture.completedFuture(null);
        }
    }

    /**
     * Runs work that may take long now, on a thread of its own.
     *
     * @return whether it will be done; false if no thread can be started
     */
    public static boolean start(Runnable work) {
        try {
            DaemonThreads.make(work, "djl-plan-background").start();
            return true;
        } catch (OutOfMemoryError e) {
            logger.debug("no thread can be started", e);
            return false;
        }
    }
}
