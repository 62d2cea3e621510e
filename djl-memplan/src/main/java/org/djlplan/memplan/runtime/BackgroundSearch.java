package org.djlplan.memplan.runtime;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that may take seconds and that nobody waits for: done one after another by one thread of low
 * priority, which exists only while there is work and keeps no JVM alive. Cancelling interrupts it.
 */
public final class BackgroundSearch {

    /** The name of the thread. */
    public static final String THREAD = "djl-plan-background-search";

    private static final int PRIO_PROCESS = 0;
    private static final int LEAST_PRIORITY = 19;
    private static final Logger logger = LoggerFactory.getLogger(BackgroundSearch.class);
    private static final ThreadPoolExecutor THREADS = executor();

    private final FutureTask<Void> task;

    private BackgroundSearch(FutureTask<Void> task) {
        this.task = task;
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
                                .setNameFormat(THREAD)
                                .setDaemon(true)
                                .setPriority(Thread.MIN_PRIORITY)
                                .build());
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** Has work done once all that was asked for before is done. */
    public static BackgroundSearch start(Runnable work) {
        FutureTask<Void> task = new FutureTask<>(() -> runSafely(work), null);
        try {
            THREADS.execute(task);
        } catch (OutOfMemoryError e) {
            logger.warn("No thread is to be had to search for smaller plans: {}", e.getMessage());
            task.cancel(false);
            THREADS.remove(task);
        }
        return new BackgroundSearch(task);
    }

    private static void runSafely(Runnable work) {
        try {
            giveWay();
            work.run();
        } catch (RuntimeException | Error e) {
            // The model runs as it is; what is wrong with a search must not end the thread.
            logger.warn("A search for a smaller plan failed", e);
        }
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

    /** Interrupts the work, or has it never begin. Does nothing when it is done. */
    public void cancel() {
        task.cancel(true);
        THREADS.remove(task);
    }

    /** Returns whether it is done or cancelled. */
    public boolean isDone() {
        return task.isDone();
    }
}
