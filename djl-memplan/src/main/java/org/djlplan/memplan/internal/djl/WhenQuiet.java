package org.djlplan.memplan.internal.djl;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.internal.runtime.Later;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs work on a thread of its own once a while has passed since the last request. Many requests in
 * a row cause one run, and no thread exists before it.
 */
public final class WhenQuiet {

    private static final Logger logger = LoggerFactory.getLogger(WhenQuiet.class);

    private final Duration quiet;
    private final String threadName;
    private final Runnable work;
    private final AtomicBoolean pending = new AtomicBoolean();
    private volatile long lastNanos;

    /**
     * @param quiet time without a request
     * @param work may take long
     */
    public WhenQuiet(Duration quiet, String threadName, Runnable work) {
        this.quiet = quiet;
        this.threadName = threadName;
        this.work = work;
    }

    /** Requests a run. Does nothing if no thread can be started. */
    public void request() {
        lastNanos = System.nanoTime();
        if (pending.compareAndSet(false, true)) {
            await();
        }
    }

    private void await() {
        if (!Later.run(quiet, this::runIfQuiet)) {
            pending.set(false);
        }
    }

    private void runIfQuiet() {
        if (System.nanoTime() - lastNanos < quiet.toNanos()) {
            await();
            return;
        }
        pending.set(false);
        try {
            DaemonThreads.make(work, threadName).start();
        } catch (OutOfMemoryError e) {
            logger.debug("no thread is to be had", e);
        }
    }
}
