package org.djlplan.memplan.testing;

import static org.junit.jupiter.api.Assertions.fail;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Waits for a state of another thread, a file or another process that no event announces. If there
 * is an event, await the event instead.
 */
public final class Await {

    /** So long that, on any machine, only a condition that never holds reaches it. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private Await() {}

    /** Returns once the condition holds; fails if it does not in two minutes. */
    public static void until(Callable<Boolean> condition) {
        until(PATIENCE, condition);
    }

    /**
     * Returns once the condition holds; fails with a message of the state if it does not in time.
     */
    public static void until(Callable<Boolean> condition, Supplier<String> state) {
        until(PATIENCE, condition, state);
    }

    /** Returns once the condition holds; fails if it does not in time. */
    public static void until(Duration patience, Callable<Boolean> condition) {
        until(patience, condition, () -> "");
    }

    private static void until(
            Duration patience, Callable<Boolean> condition, Supplier<String> state) {
        if (!within(patience, condition)) {
            fail("in vain for " + patience + " " + state.get());
        }
    }

    /** Returns whether the condition holds in time, as soon as it does. */
    public static boolean within(Duration patience, Callable<Boolean> condition) {
        long end = System.nanoTime() + patience.toNanos();
        while (!holds(condition)) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            if (Thread.currentThread().isInterrupted()) {
                fail("interrupted");
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }

    private static boolean holds(Callable<Boolean> condition) {
        try {
            return condition.call();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
