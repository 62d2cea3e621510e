package org.djlplan.memplan.internal.runtime;

import java.time.Duration;

/**
 * Detects that forward passes are stuck: no pass has ended for much longer than the longest pass so
 * far took. In that case the running passes may be waiting for passes that have not begun. Not
 * thread-safe: the lock of {@link Workers} guards it.
 */
final class Progress {

    /** A pass may take this many times as long as any before it. */
    private static final int LONGER = 10;

    private final long patienceNanos;
    private long lastNanos;
    private long longestNanos;

    /**
     * @param patience the least time without an end after which passes are stuck
     */
    Progress(Duration patience) {
        patienceNanos = patience.toNanos();
    }

    /** Returns the least time without an end after which passes are stuck. Needs no lock. */
    long patienceNanos() {
        return patienceNanos;
    }

    /** Starts the time without an end again from now. */
    void restart(long now) {
        lastNanos = now;
    }

    /** Notes the end of a pass. */
    void end(long begin, long now) {
        lastNanos = now;
        longestNanos = Math.max(longestNanos, now - begin);
    }

    /** Returns whether no pass ended for much longer than passes take. */
    boolean isStuck(long now) {
        return now - lastNanos >= Math.max(patienceNanos, LONGER * longestNanos);
    }
}
