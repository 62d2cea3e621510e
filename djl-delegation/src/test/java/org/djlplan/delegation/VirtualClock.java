package org.djlplan.delegation;

import com.google.common.base.Ticker;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.Semaphore;

/**
 * A clock that moves only when everybody sleeps: as many machines as wanted run their real code,
 * one at a time, each on a thread of its own, always in the same order.
 */
final class VirtualClock extends Ticker {

    private static final long STACK_BYTES = 1 << 18;

    private final PriorityQueue<Sleeper> sleepers =
            new PriorityQueue<>(
                    Comparator.comparingLong(Sleeper::wakeNanos)
                            .thenComparingLong(Sleeper::number));
    private final Semaphore everybodySleeps = new Semaphore(0);
    private long nowNanos;
    private long sleeps;
    private Throwable failure;

    private record Sleeper(long wakeNanos, long number, Semaphore wake) {}

    @Override
    public long read() {
        return nowNanos;
    }

    /** Returns the time since the beginning. */
    Duration now() {
        return Duration.ofNanos(nowNanos);
    }

    /** Lets a machine begin after a while; for machines, and before {@link #run}. */
    void begin(Duration after, Runnable machine) {
        Semaphore wake = queued(after);
        Thread thread =
                new Thread(
                        null,
                        () -> {
                            wake.acquireUninterruptibly();
                            try {
                                machine.run();
                            } catch (RuntimeException | Error e) {
                                failure = e;
                            } finally {
                                everybodySleeps.release();
                            }
                        },
                        "machine",
                        STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
    }

    private Semaphore queued(Duration after) {
        Semaphore wake = new Semaphore(0);
        sleepers.add(new Sleeper(nowNanos + after.toNanos(), sleeps, wake));
        sleeps++;
        return wake;
    }

    /** Sleeps; for machines. */
    void sleep(Duration time) {
        Semaphore wake = queued(time);
        everybodySleeps.release();
        wake.acquireUninterruptibly();
    }

    /** Runs until all machines have ended, or one has failed. */
    void run() {
        while (!sleepers.isEmpty()) {
            Sleeper next = sleepers.remove();
            nowNanos = next.wakeNanos();
            next.wake().release();
            everybodySleeps.acquireUninterruptibly();
            if (failure != null) {
                throw new AssertionError("at " + now(), failure);
            }
        }
    }
}
