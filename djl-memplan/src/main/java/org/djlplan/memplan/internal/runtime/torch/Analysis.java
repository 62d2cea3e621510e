package org.djlplan.memplan.internal.runtime.torch;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plans the allocations of predictions, one plan after another, in a thread that ends when it is
 * idle. If the thread is too busy, work is dropped; its owner offers it again later.
 *
 * <p>The thread waits a second after work was offered. After each plan it waits 49 times as long as
 * planning took, at most five seconds. Predictions need the processors, above all in a model's
 * first seconds, when planning would also cause work for Java's compilers. A caller of {@link
 * #await} and urgent work end the pauses.
 */
final class Analysis {

    private static final Logger logger = LoggerFactory.getLogger(Analysis.class);

    private static final int MOST_WAITING = 64;

    /**
     * Pause after a plan, as a multiple of the time that it took: planning uses one part in 50 of
     * the time, the same share that quick plans may add to predictions.
     */
    private static final int PAUSE = PlanningCost.MOST_COST - 1;

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    /**
     * Delay after work is offered, because Java's compilers are then busy with the first
     * predictions.
     */
    private static final Duration DELAY = Duration.ofSeconds(1);

    private static final ThreadPoolExecutor THREAD = thread();

    /** Number of tasks that are not done yet. */
    private static final AtomicInteger pending = new AtomicInteger();

    /** Deferred work, in the order in which it was deferred. Guarded by itself. */
    private static final Set<Deferred> DEFERRED = new LinkedHashSet<>();

    private static final Object PAUSES = new Object();

    /**
     * Number of callers that wait for the work, plus the number of urgent tasks. Guarded by PAUSES.
     */
    private static int awaited;

    /** When the pause after the last work ends. */
    private static volatile long resumeNanos = System.nanoTime();

    private Analysis() {}

    private static ThreadPoolExecutor thread() {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(
                        1,
                        1,
                        100,
                        TimeUnit.MILLISECONDS,
                        new ArrayBlockingQueue<>(MOST_WAITING),
                        DaemonThreads.named("djl-plan-analysis"));
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** Offers work, to begin after a second at the earliest. Returns whether it will be done. */
    static boolean offer(Runnable work) {
        return offer(work, DELAY);
    }

    /** Offers work, to begin as soon as earlier work is done. Returns whether it will be done. */
    static boolean offerAtOnce(Runnable work) {
        count(1);
        boolean offered =
                offer(
                        () -> {
                            count(-1);
                            work.run();
                        },
                        Duration.ZERO);
        if (!offered) {
            count(-1);
        }
        return offered;
    }

    private static boolean offer(Runnable work, Duration delay) {
        long earliestNanos = System.nanoTime() + delay.toNanos();
        NativeLoader.Use use = NativeLoader.hold();
        pending.incrementAndGet();
        try {
            THREAD.execute(
                    () -> {
                        try (use) {
                            pauseUntil(earliestNanos);
                            pauseUntil(resumeNanos);
                            long begin = System.nanoTime();
                            work.run();
                            pauseAfter(begin, System.nanoTime());
                        } finally {
                            pending.decrementAndGet();
                        }
                    });
            return true;
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            pending.decrementAndGet();
            use.close();
            logger.debug("allocations are not planned", e);
            return false;
        }
    }

    /** Work that is not needed yet. Compared by identity. */
    static final class Deferred {

        private final Runnable work;
        private final boolean isUrgent;

        private Deferred(Runnable work, boolean isUrgent) {
            this.work = work;
            this.isUrgent = isUrgent;
        }

        /** Offers the work. Returns whether it was or will be done. */
        boolean offer() {
            synchronized (DEFERRED) {
                if (!DEFERRED.contains(this)) {
                    return true;
                }
                boolean offered = isUrgent ? offerAtOnce(work) : Analysis.offer(work);
                if (offered) {
                    DEFERRED.remove(this);
                }
                return offered;
            }
        }

        void drop() {
            synchronized (DEFERRED) {
                DEFERRED.remove(this);
            }
        }
    }

    /**
     * Keeps work until it is offered.
     *
     * @param isUrgent whether it then begins as soon as earlier work is done
     */
    static Deferred defer(Runnable work, boolean isUrgent) {
        Deferred deferred = new Deferred(work, isUrgent);
        synchronized (DEFERRED) {
            DEFERRED.add(deferred);
        }
        return deferred;
    }

    /** Offers all work that was deferred, of all models. */
    static void offerDeferred() {
        List<Deferred> all;
        synchronized (DEFERRED) {
            all = List.copyOf(DEFERRED);
        }
        for (Deferred each : all) {
            boolean unused = each.offer();
        }
    }

    /** Waits until all offered work is done, at most for this long. */
    static void await(Duration atMost) {
        CountDownLatch done = new CountDownLatch(1);
        if (pending.get() == 0) {
            return;
        }
        count(1);
        try {
            if (offer(done::countDown)) {
                boolean unused = done.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            count(-1);
        }
    }

    private static void count(int more) {
        synchronized (PAUSES) {
            awaited += more;
            PAUSES.notifyAll();
        }
    }

    /**
     * Sets the pause after work; short work does not end the pause after longer work. Runs on the
     * only thread.
     */
    private static void pauseAfter(long begin, long end) {
        long resume = end + Math.min(PAUSE * (end - begin), LONGEST_PAUSE.toNanos());
        if (resume - resumeNanos > 0) {
            resumeNanos = resume;
        }
    }

    private static void pauseUntil(long endNanos) {
        synchronized (PAUSES) {
            long leftNanos = endNanos - System.nanoTime();
            while (awaited <= 0 && leftNanos > 0) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(PAUSES, leftNanos);
                } catch (InterruptedException e) {
                    // Our code never interrupts this thread; if other code does, the work is done
                    // at once.
                    return;
                }
                leftNanos = endNanos - System.nanoTime();
            }
        }
    }
}
