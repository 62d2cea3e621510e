package org.djlplan.memplan.internal.djl;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.internal.thread.Later;

/**
 * Runs work on a thread of its own once a while has passed since the last request. Many requests in
 * a row cause one run, and no thread exists before it.
 */
public final class WhenQuiet {

    private final Duration quiet;
    private final Runnable work;
    private final AtomicBoolean pending = new AtomicBoolean();
    private volatile long lastNanos;

    /**
     * @param quiet time without a request
     * @param work may take long
     */
    public WhenQuiet(Duration quiet, Runnable work) {
        this.quiet = quiet;
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
        boolean unused = Later.start(work);
    }
}
