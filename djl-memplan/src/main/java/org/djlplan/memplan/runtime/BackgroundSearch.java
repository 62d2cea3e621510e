package org.djlplan.memplan.runtime;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.djlplan.memplan.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that may take seconds and that nobody waits for: done one after another by one thread of low
 * priority, which exists only while there is work and keeps no JVM alive.
 *
 * <p>Cancelling interrupts the parts that are done {@linkplain #interruptibly interruptibly} only:
 * a file is closed when a thread that uses it is interrupted. It waits for nothing.
 */
public final class BackgroundSearch {

    /** The name of the thread. */
    public static final String THREAD = "djl-plan-background-search";

    private static final int PRIO_PROCESS = 0;
    private static final int LEAST_PRIORITY = 19;
    private static final Logger logger = LoggerFactory.getLogger(BackgroundSearch.class);
    private static final ThreadPoolExecutor THREADS = executor();

    private final Consumer<BackgroundSearch> work;
    private final Runnable task = this::run;
    private Optional<Thread> interruptible = Optional.empty();
    private boolean over;

    private BackgroundSearch(Consumer<BackgroundSearch> work) {
        this.work = work;
    }

    private static ThreadPoolExecutor executor() {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(
                        1,
                        1,
                        1,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        new ThreadFactoryBuilder()
                                .setThreadFactory(DaemonThreads.named(THREAD))
                                .setPriority(Thread.MIN_PRIORITY)
                                .build());
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** Has work done once all that was asked for before is done. The work is given its handle. */
    public static BackgroundSearch start(Consumer<BackgroundSearch> work) {
        BackgroundSearch search = new BackgroundSearch(work);
        try {
            THREADS.execute(search.task);
        } catch (OutOfMemoryError e) {
            logger.warn("No thread is to be had to search for smaller plans: {}", e.getMessage());
            search.cancel();
        }
        return search;
    }

    private void run() {
        if (isDone()) {
            return;
        }
        try {
            giveWay();
            work.accept(this);
        } catch (RuntimeException | Error e) {
            // The model runs as it is; what is wrong with a search must not end the thread.
            logger.warn("A search for a smaller plan failed", e);
        } finally {
            synchronized (this) {
                over = true;
            }
        }
    }

    /**
     * Computes something that may take long; called by the work itself.
     *
     * @return empty if it was cancelled, before or meanwhile
     */
    public <T> Optional<T> interruptibly(Supplier<T> computation) {
        synchronized (this) {
            if (over) {
                return Optional.empty();
            }
            interruptible = Optional.of(Thread.currentThread());
        }
        T computed;
        try {
            computed = computation.get();
        } finally {
            synchronized (this) {
                interruptible = Optional.empty();
                // It was meant for the computation, not for the files that are used after it.
                boolean unused = Thread.interrupted();
            }
        }
        return isDone() ? Optional.empty() : Optional.of(computed);
    }

    /**
     * Lets all other threads go first. By default the JVM hands no priorities on to Linux, where
     * {@code setpriority} with these arguments is for the calling thread and those that it starts.
     */
    private static void giveWay() {
        if (Platform.isLinux()) {
            int unused =
                    NativeLibrary.getProcess()
                            .getFunction("setpriority")
                            .invokeInt(new Object[] {PRIO_PROCESS, 0, LEAST_PRIORITY});
        }
    }

    /**
     * Interrupts the work where it may be interrupted, and has it never begin if it has not. Does
     * nothing when it is done.
     */
    public void cancel() {
        synchronized (this) {
            over = true;
            interruptible.ifPresent(Thread::interrupt);
        }
        THREADS.remove(task);
    }

    /** Returns whether it is done or cancelled. */
    public synchronized boolean isDone() {
        return over;
    }
}
