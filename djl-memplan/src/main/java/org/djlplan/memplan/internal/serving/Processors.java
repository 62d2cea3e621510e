package org.djlplan.memplan.internal.serving;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;

/**
 * Tracks how passes of all models of this JVM share the processors. Its lock also guards all {@link
 * ThreadGovernor}s.
 *
 * <p>A delegate's threads wait actively for each other. With more such threads than processors,
 * passes take 20 to 100 times as long, so passes that do not fit together run one after another.
 */
final class Processors {

    /** How long passes must not have overlapped, initially, before they get several threads. */
    static final Duration QUIET = Duration.ofSeconds(1);

    private static final long LONGEST_PATIENCE_NANOS = Duration.ofSeconds(30).toNanos();

    /**
     * How long a single-threaded pass waits for multi-threaded ones, which themselves wait longer.
     */
    private static final Duration SHORT_WAIT = Duration.ofMillis(50);

    private static final long LONG_WAIT_NANOS = Duration.ofSeconds(10).toNanos();

    private final int cores;
    private final LongSupplier clock;
    private final long shortWaitNanos;

    final ReentrantLock lock = new ReentrantLock();
    private final Condition left = lock.newCondition();

    /** Number of passes under way, of all models, including those that wait here. */
    private int running;

    /**
     * By number of passes: the last time when so many were under way; the last entry also stands
     * for more.
     */
    private final long[] lastAt;

    /** Its time is over when passes have not overlapped for a while. */
    private final Patience overlaps;

    /** Number of threads of the passes that have entered. */
    private int threadsInUse;

    /** How many of these passes are multi-threaded. */
    private int wide;

    private final ArrayDeque<Object> waiting = new ArrayDeque<>();

    private static final class OfJvm {
        private static final Processors ALL =
                new Processors(new Machine().fullCores(), System::nanoTime, SHORT_WAIT);
    }

    /**
     * The time in which a failed step is not retried; it grows each time that the step soon fails
     * again.
     */
    static final class Patience {

        private long nanos = QUIET.toNanos();
        private long until;

        Patience(long now) {
            until = now + nanos;
        }

        boolean isOver(long now) {
            return now - until >= 0;
        }

        void begin(long now) {
            if (isOver(now)) {
                nanos =
                        now - until < nanos
                                ? Math.min(2 * nanos, LONGEST_PATIENCE_NANOS)
                                : QUIET.toNanos();
            }
            until = now + nanos;
        }
    }

    /** Returns the processors of this JVM. */
    static Processors ofJvm() {
        return OfJvm.ALL;
    }

    /**
     * @param cores how many this process may keep busy
     * @param clock nanoseconds since some moment
     * @param shortWait how long a single-threaded pass waits for multi-threaded ones
     */
    @VisibleForTesting
    Processors(int cores, LongSupplier clock, Duration shortWait) {
        shortWaitNanos = shortWait.toNanos();
        this.cores = cores;
        this.clock = clock;
        long now = now();
        lastAt = new long[cores + 1];
        Arrays.fill(lastAt, now - LONGEST_PATIENCE_NANOS);
        overlaps = new Patience(now);
    }

    int cores() {
        return cores;
    }

    long now() {
        return clock.getAsLong();
    }

    /** Counts a pass. The caller holds the lock, here and below. */
    void arrive(long now) {
        running++;
        if (running > 1) {
            lastAt[Math.min(running, cores)] = now;
            overlaps.begin(now);
        }
    }

    /** Returns how many threads each pass can have, given how many passes are expected at once. */
    int threadsForEach(long now) {
        int passes = Math.max(1, Math.min(running, cores));
        for (int more = cores; more > passes; more--) {
            if (now - lastAt[more] < overlaps.nanos) {
                passes = more;
            }
        }
        return cores / passes;
    }

    /**
     * Waits, for a limited time, until a pass and other multi-threaded passes together have no more
     * threads than processors, then lets the pass begin.
     *
     * @param threads number of the pass's threads
     */
    void enter(int threads) {
        if (!waiting.isEmpty() || !fits(threads)) {
            long since = System.nanoTime();
            await(threads);
            Waits.add(PoolReport.Cause.PROCESSORS, System.nanoTime() - since);
        }
        threadsInUse += threads;
        wide += threads > 1 ? 1 : 0;
    }

    private boolean fits(int threads) {
        return threadsInUse == 0 || threadsInUse + threads <= cores || (threads == 1 && wide == 0);
    }

    /** First come, first served. Uninterruptible; the interrupt status is restored. */
    private void await(int threads) {
        Object ticket = new Object();
        waiting.add(ticket);
        long end = System.nanoTime() + (threads > 1 ? LONG_WAIT_NANOS : shortWaitNanos);
        boolean interrupted = false;
        while (end - System.nanoTime() > 0 && (waiting.peek() != ticket || !fits(threads))) {
            try {
                long unused = left.awaitNanos(end - System.nanoTime());
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        waiting.remove(ticket);
        left.signalAll();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends what {@link #enter} began. */
    void exit(int threads) {
        threadsInUse -= threads;
        wide -= threads > 1 ? 1 : 0;
        if (!waiting.isEmpty()) {
            left.signalAll();
        }
    }

    /** Ends what {@link #arrive} counted. */
    void leave() {
        running--;
    }
}
