package org.djlplan.memplan.internal.gate;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Places of predictions: as many run at once as there are places. Each runs on its caller's thread
 * if that has a seat, otherwise on a worker's. Workers end when they are idle. Not thread-safe: the
 * lock of {@link Gate} guards it.
 */
public final class Places {

    /** Any number of places: predictions run on their callers' threads. */
    public static final Places NONE =
            new Places(Integer.MAX_VALUE, 0, "", Duration.ofSeconds(1), Duration.ZERO);

    private static final Logger logger = LoggerFactory.getLogger(Places.class);

    /** A prediction may take this many times as long as any before it. */
    private static final int LONGER = 10;

    private final int count;
    private final Seats seats;
    private final ThreadPoolExecutor workers;
    private final long patienceNanos;
    private int taken;

    /** When a prediction began or ended. */
    private long lastNanos = System.nanoTime();

    private long longestNanos;

    /**
     * @param name of its workers
     * @param idle how long an idle worker lives
     * @param patience after how long without progress another prediction may begin
     */
    Places(int count, int seats, String name, Duration idle, Duration patience) {
        this.count = count;
        this.seats = new Seats(seats);
        workers =
                new ThreadPoolExecutor(
                        count,
                        count,
                        idle.toNanos(),
                        TimeUnit.NANOSECONDS,
                        new LinkedBlockingQueue<>(),
                        DaemonThreads.named(name));
        workers.allowCoreThreadTimeOut(true);
        patienceNanos = patience.toNanos();
    }

    /** Counts a call of this thread, and returns whether it may run its predictions itself. */
    boolean hasSeat() {
        return this == NONE || (!VirtualThreads.isCurrent() && seats.take(Thread.currentThread()));
    }

    /**
     * Returns whether another prediction may begin: if a place is free, or if no prediction has
     * begun or ended for much longer than predictions take. Then the running ones may wait for
     * waiting ones.
     */
    boolean haveRoom() {
        return taken < count
                || System.nanoTime() - lastNanos >= Math.max(patienceNanos, LONGER * longestNanos);
    }

    /** Takes a place at a time. */
    void take(long now) {
        taken++;
        lastNanos = now;
    }

    void giveBack(long beganNanos) {
        taken--;
        lastNanos = System.nanoTime();
        longestNanos = Math.max(longestNanos, lastNanos - beganNanos);
    }

    /**
     * Lets a worker run a prediction that has a place.
     *
     * @return false if its caller is to run it, because there is no worker
     */
    boolean work(Runnable prediction) {
        if (this == NONE || taken > count) {
            return false;
        }
        try {
            workers.execute(prediction);
            return true;
        } catch (OutOfMemoryError e) {
            logger.debug("no thread can be started", e);
            return false;
        }
    }
}
