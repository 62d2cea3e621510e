package org.djlplan.memplan.runtime.torch;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.runtime.NativeLoader;
import org.djlplan.memplan.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes plans of what predictions allocated, one after the other in a thread that ends when it is
 * idle. What finds it too busy is not planned: it comes back.
 */
final class Analysis {

    private static final Logger logger = LoggerFactory.getLogger(Analysis.class);

    private static final int MOST_WAITING = 64;
    private static final ThreadPoolExecutor THREAD = thread();

    /** How much work is not done yet. */
    private static final AtomicInteger pending = new AtomicInteger();

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

    /** Returns whether work will be done. */
    static boolean offer(Runnable work) {
        NativeLoader.Use use = NativeLoader.hold();
        pending.incrementAndGet();
        try {
            THREAD.execute(
                    () -> {
                        try (use) {
                            work.run();
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

    /** Waits until what was offered until now is done, but no longer than this. */
    static void await(Duration atMost) {
        CountDownLatch done = new CountDownLatch(1);
        if (pending.get() == 0 || !offer(done::countDown)) {
            return;
        }
        try {
            boolean unused = done.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
