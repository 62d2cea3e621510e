package org.djlplan.memplan.internal.gate;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The places of large predictions: as many run at once as there are places. Each runs on its
 * caller's thread if that has a seat, otherwise on a worker's. Workers end when they are idle. Not
 * thread-safe: the lock of {@link Gate} guards it.
 */
public final class Places {

    /** No places: predictions need none, and run on their callers' threads. */
    public static final Places NONE =
            new Places(0, 0, "", Duration.ZERO, new ReentrantLock(), ticket -> {});

    private static final Logger logger = LoggerFactory.getLogger(Places.class);

    /** A prediction may take this many times as long as any before it. */
    private static final int LONGER = 10;

    private final int count;
    private final String name;
    private final long idleNanos;
    private final Seats seats;
    private final ReentrantLock lock;
    private final Condition work;
    private final Consumer<Ticket<?>> ends;

    /** Predictions that have a place, but no worker yet. */
    private final Queue<Ticket<?>> ready = new ArrayDeque<>();

    private int taken;
    private int started;
    private final Workers workers = new Workers();
    private final Progress progress = new Progress();

    /** Numbers of worker threads. */
    private static final class Workers {
        private int all;

        /** Those that run nothing; some of them have just ended a prediction. */
        private int idle;

        /** Those that wait for work. */
        private int parked;
    }

    /** When predictions of these places began and ended. */
    private static final class Progress {
        private long lastNanos = System.nanoTime();
        private long longestNanos;
    }

    /**
     * @param name of its workers
     * @param ends called by a worker when a prediction has ended, with the lock held
     */
    Places(
            int count,
            int seats,
            String name,
            Duration idle,
            ReentrantLock lock,
            Consumer<Ticket<?>> ends) {
        this.count = count;
        this.name = name;
        this.lock = lock;
        this.ends = ends;
        idleNanos = idle.toNanos();
        this.seats = new Seats(seats);
        work = lock.newCondition();
    }

    boolean exist() {
        return count > 0;
    }

    boolean areFree() {
        return taken < count;
    }

    /** Counts a call of a thread, and returns whether it may run its predictions itself. */
    boolean takeSeat(Thread thread) {
        return seats.exist() && seats.take(thread);
    }

    /** Takes a place, even if none is free. */
    void take(long now) {
        taken++;
        progress.lastNanos = now;
    }

    void giveBack(long beganNanos) {
        long now = System.nanoTime();
        taken--;
        progress.lastNanos = now;
        progress.longestNanos = Math.max(progress.longestNanos, now - beganNanos);
    }

    /**
     * Returns whether no prediction has begun or ended for much longer than predictions take, and
     * for longer than some time. Then the running ones may wait for waiting ones.
     */
    boolean areStuck(long patienceNanos) {
        long least = Math.max(patienceNanos, LONGER * progress.longestNanos);
        return System.nanoTime() - progress.lastNanos >= least;
    }

    /** Hands a prediction that has a place to a worker, or to its caller if there is no thread. */
    void handOver(Ticket<?> ticket) {
        ready.add(ticket);
        if (ready.size() > workers.idle && workers.all < count && !start() && workers.idle == 0) {
            ready.remove(ticket);
            ticket.passHere();
        } else if (ready.size() > workers.idle - workers.parked) {
            work.signal();
        }
    }

    private boolean start() {
        started++;
        Thread thread = DaemonThreads.make(this::work, name + "-" + started);
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            logger.debug("no thread can be started", e);
            return false;
        }
        workers.all++;
        workers.idle++;
        return true;
    }

    private void work() {
        Optional<Ticket<?>> next = next();
        while (next.isPresent()) {
            Ticket<?> ticket = next.get();
            ticket.work();
            lock.lock();
            try {
                workers.idle++;
                ends.accept(ticket);
            } finally {
                lock.unlock();
            }
            // Afterwards, because its caller may come again at once.
            ticket.release();
            next = next();
        }
    }

    /** Waits for a prediction; empty if this worker is to end, because there was none for long. */
    private Optional<Ticket<?>> next() {
        lock.lock();
        try {
            long left = idleNanos;
            while (ready.isEmpty() && left > 0) {
                workers.parked++;
                try {
                    left = work.awaitNanos(left);
                } catch (InterruptedException e) {
                    logger.debug("a worker was interrupted while it was idle", e);
                } finally {
                    workers.parked--;
                }
            }
            workers.idle--;
            workers.all -= ready.isEmpty() ? 1 : 0;
            return Optional.ofNullable(ready.poll());
        } finally {
            lock.unlock();
        }
    }
}
