package org.djlplan.memplan.internal.runtime;

/** The most memory that one of a model's recent predictions needed. Thread-safe. */
public final class RecentPeak {

    /** The peak covers at least so many predictions, and less than twice as many. */
    static final int PREDICTIONS = 32;

    private long before;
    private long now;
    private int count;
    private volatile long bytes = Long.MAX_VALUE;

    /** Returns the peak; {@link Long#MAX_VALUE} before the first prediction has ended. */
    public long bytes() {
        return bytes;
    }

    /** Notes how much memory a prediction needed. */
    public synchronized void note(long neededBytes) {
        now = Math.max(now, neededBytes);
        bytes = Math.max(before, now);
        count++;
        if (count == PREDICTIONS) {
            before = now;
            now = 0;
            count = 0;
        }
    }
}
