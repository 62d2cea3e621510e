package org.djlplan.memplan.internal.runtime;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;

/**
 * Returns to the system the memory that loading a model leaves behind: file pages that are not read
 * again, such as weights that the engine converted, and freed memory that the C library keeps. It
 * does so a few times in the half minute after the first prediction, or also after the load, at
 * doubling intervals, because Java's compilers also allocate and free most of their memory in that
 * time. It runs in the background. A page that is needed again costs a page fault.
 */
public final class Settling implements AutoCloseable {

    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final int TIMES = 5;
    private static final Duration APART = Duration.ofMillis(500);

    private static volatile long lastTrimNanos = System.nanoTime() - APART.toNanos();

    private final Runnable releasePages;
    private final Duration first;
    private volatile boolean predicted;

    /** Guarded by this, as is {@link #next}. */
    private boolean closed;

    private final List<Future<?>> next = new ArrayList<>(TIMES);

    /**
     * Waits for the first prediction.
     *
     * @param releasePages returns the pages of the model's file to the system; may run after the
     *     model is closed
     */
    public Settling(Runnable releasePages) {
        this(releasePages, FIRST);
    }

    private Settling(Runnable releasePages, Duration first) {
        this.releasePages = releasePages;
        this.first = first;
    }

    /** Begins to return freed memory. */
    public static Settling afterLoad() {
        return afterLoad(() -> {}, FIRST);
    }

    @VisibleForTesting
    static Settling afterLoad(Runnable releasePages, Duration first) {
        Settling settling = new Settling(releasePages, first);
        settling.begin();
        return settling;
    }

    /** Reports a prediction of the model. Takes time only at the first call. */
    public void afterPrediction() {
        if (!predicted) {
            predicted = true;
            begin();
        }
    }

    private synchronized void begin() {
        cancel();
        for (int i = 0; i < TIMES && !closed; i++) {
            Runnable release = i == 0 ? releasePages : () -> {};
            next.add(Later.schedule(first.multipliedBy((2L << i) - 1), () -> settle(release)));
        }
    }

    /** Returns file pages and freed memory now, because predictions no longer use much of it. */
    public void settleNow() {
        releasePages.run();
        ProcessMemory.trim();
    }

    /**
     * Trims once for models that were loaded together. Runs on the only thread of {@link Later}.
     */
    private static void settle(Runnable release) {
        release.run();
        long now = System.nanoTime();
        if (now - lastTrimNanos >= APART.toNanos()) {
            ProcessMemory.trim();
            lastTrimNanos = System.nanoTime();
        }
    }

    private void cancel() {
        next.forEach(future -> future.cancel(false));
        next.clear();
    }

    @Override
    public synchronized void close() {
        closed = true;
        cancel();
    }
}
