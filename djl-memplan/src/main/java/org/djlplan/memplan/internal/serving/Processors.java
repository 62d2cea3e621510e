package org.djlplan.memplan.internal.serving;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.machine.ProcessorTimes;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;

/**
 * The processors that passes of all models of this JVM share: the number of running passes, and the
 * processors that other programs leave idle. Its lock also guards all {@link ThreadGovernor}s.
 *
 * <p>A delegate's threads wait actively for each other. With more such threads than processors,
 * passes take 20 to 100 times as long, so passes that do not fit together run one after another.
 */
final class Processors {

    /** How long a pass must have been alone, initially, before passes get several threads. */
    static final Duration QUIET = Duration.ofSeconds(1);

    private static final long LONGEST_PATIENCE_NANOS = Duration.ofSeconds(30).toNanos();

    /** How long a pass of one thread waits for those of several; those of several wait longer. */
    private static final Duration SHORT_WAIT = Duration.ofMillis(50);

    private static final long LONG_WAIT_NANOS = Duration.ofSeconds(10).toNanos();

    private final int cores;
    private final LongSupplier clock;
    private final long shortWaitNanos;

    final ReentrantLock lock = new ReentrantLock();
    private final Condition left = lock.newCondition();

    /** Passes under way, of all models, those that wait here included. */
    private int running;

    /** When so many passes were under way last; the last entry counts for more, too. */
    private final long[] lastAt;

    /** Ends when passes have not overlapped for a while. */
    private final Patience overlaps;

    /** Threads of passes that are kept from outnumbering the processors. */
    private int threadsInUse;

    /** How many of these passes have several threads. */
    private int wide;

    private final ArrayDeque<Object> waiting = new ArrayDeque<>();

    /** How many processors other programs leave idle. */
    private final IdleProcessors idle;

    private static final class OfJvm {
        private static final Processors ALL =
                new Processors(
                        new Machine().fullCores(),
                        System::nanoTime,
                        new ProcessorTimes()::read,
                        SHORT_WAIT);
    }

    /**
     * The time for which a failed step is not tried again: longer each time if it fails again soon.
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
     * @param times tells how busy they are; empty where nobody knows
     * @param shortWait how long a pass of one thread waits for those of several
     */
    @VisibleForTesting
    Processors(
            int cores,
            LongSupplier clock,
            Supplier<Optional<ProcessorTimes.Reading>> times,
            Duration shortWait) {
        shortWaitNanos = shortWait.toNanos();
        this.cores = cores;
        this.clock = clock;
        long now = now();
        lastAt = new long[cores + 1];
        Arrays.fill(lastAt, now - LONGEST_PATIENCE_NANOS);
        overlaps = new Patience(now);
        idle = new IdleProcessors(cores, clock, times);
    }

    int cores() {
        return cores;
    }

    long now() {
        return clock.getAsLong();
    }

    /**
     * Looks how busy the processors are, unless that was done just now or passes run. The caller
     * holds the lock, here and below.
     */
    void look(long now) {
        if (running == 0) {
            idle.look(now);
        }
    }

    /** Counts a pass. */
    void arrive(long now) {
        running++;
        if (running > 1) {
            lastAt[Math.min(running, cores)] = now;
            overlaps.begin(now);
        }
    }

    /** Returns how many threads each of the passes can have that are to be expected at once. */
    int threadsForEach(long now) {
        int passes = Math.max(1, Math.min(running, cores));
        for (int more = cores; more > passes; more--) {
            if (now - lastAt[more] < overlaps.nanos) {
                passes = more;
            }
        }
        return idle.threads() / passes;
    }

    /**
     * Waits, a limited time, until a pass does not outnumber the processors together with others of
     * several threads, and lets it begin.
     *
     * @param threads how many it has
     */
    void enter(int threads) throws InterruptedException {
        if (!waiting.isEmpty() || !fits(threads)) {
            long since = System.nanoTime();
            await(threads);
            Waits.end(Waits.Lack.PROCESSORS, since);
        }
        threadsInUse += threads;
        wide += threads > 1 ? 1 : 0;
    }

    private boolean fits(int threads) {
        return threadsInUse == 0 || threadsInUse + threads <= cores || (threads == 1 && wide == 0);
    }

    /** First come, first served. */
    private void await(int threads) throws InterruptedException {
        Object ticket = new Object();
        waiting.add(ticket);
        try {
            long nanos = threads > 1 ? LONG_WAIT_NANOS : shortWaitNanos;
            while (nanos > 0 && (waiting.peek() != ticket || !fits(threads))) {
                nanos = left.awaitNanos(nanos);
            }
        } finally {
            waiting.remove(ticket);
            left.signalAll();
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
    void leave(int threads) {
        running--;
        if (threads > 1) {
            idle.noteWide();
        }
    }
}
