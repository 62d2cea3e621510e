package org.djlplan.memplan.internal.runtime;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;

/**
 * Returns to the system the memory that loading a model leaves behind: file pages that are not read
 * again, such as weights that the engine converted, and freed memory that the C library keeps. It
 * does so a few times in the half minute after the first prediction, at doubling intervals, because
 * Java's compiler also allocates and frees most of its memory in that time. It runs in the
 * background. A page that is needed again costs a page fault.
 */
public final class Settling implements AutoCloseable {

    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final int TIMES = 5;
    private static final Duration APART = Duration.ofMillis(500);

    private static volatile long lastTrimNanos = System.nanoTime() - APART.toNanos();

    private final Runnable releasePages;
    private final Duration first;
    private volatile boolean begun;
    private int done;
    private Optional<Future<?>> next = Optional.empty();

    /**
     * @param releasePages returns the pages of the model's file to the system; may run after the
     *     model is closed
     */
    public Settling(Runnable releasePages) {
        this(releasePages, FIRST);
    }

    @VisibleForTesting
    Settling(Runnable releasePages, Duration first) {
        this.releasePages = releasePages;
        this.first = first;
    }

    /** Reports a prediction of the model. Takes time only at the first call. */
    public void begin() {
        if (!begun) {
            start();
        }
    }

    private synchronized void start() {
        if (!begun) {
            begun = true;
            next = Later.schedule(first, this::settle);
        }
    }

    /**
     * Returns file pages and freed memory now, on this thread, because predictions no longer use
     * much of it.
     */
    public void settleNow() {
        releasePages.run();
        ProcessMemory.trim();
    }

    private void settle() {
        if (done == 0) {
            releasePages.run();
        }
        trim();
        synchronized (this) {
            done++;
            next =
                    next.isPresent() && done < TIMES
                            ? Later.schedule(first.multipliedBy(1L << done), this::settle)
                            : Optional.empty();
        }
    }

    /**
     * Trims once for models that were loaded together. Runs on the only thread of {@link Later}.
     */
    private static void trim() {
        long now = System.nanoTime();
        if (now - lastTrimNanos >= APART.toNanos()) {
            ProcessMemory.trim();
            lastTrimNanos = System.nanoTime();
        }
    }

    @Override
    public synchronized void close() {
        begun = true;
        next.ifPresent(future -> future.cancel(false));
        next = Optional.empty();
    }
}
