package org.djlplan.memplan.internal.thread;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs an action in the background when a resource has not been used for a given time. Many uses in
 * a row cause one run, and no thread exists before it.
 */
public final class Pause {

    /** A pause that is longer than most pauses between two requests of a busy service. */
    public static final Duration SHORT = Duration.ofMillis(500);

    /** A pause after which the page faults of the next prediction are acceptable. */
    public static final Duration LONG = Duration.ofSeconds(10);

    private final long nanos;
    private final Runnable action;
    private final AtomicBoolean awaited = new AtomicBoolean();
    private volatile long lastUseNanos;
    private volatile Future<?> check = CompletableFuture.completedFuture(null);

    /**
     * @param action short work that runs once after the last use
     */
    public Pause(Duration length, Runnable action) {
        nanos = length.toNanos();
        this.action = action;
    }

    /** Notes a use of the resource, and requests the action for the next pause. */
    public void await() {
        lastUseNanos = System.nanoTime();
        awaitFor(nanos);
    }

    private void awaitFor(long leftNanos) {
        if (!awaited.get() && awaited.compareAndSet(false, true)) {
            check = Later.schedule(Duration.ofNanos(leftNanos), this::check);
        }
    }

    /** Withdraws the request, because it would retain the class loader of its code. */
    public void cancel() {
        if (check.cancel(false)) {
            awaited.set(false);
        }
    }

    private void check() {
        awaited.set(false);
        long leftNanos = nanos - (System.nanoTime() - lastUseNanos);
        if (leftNanos > 0) {
            awaitFor(leftNanos);
        } else {
            action.run();
        }
    }
}
