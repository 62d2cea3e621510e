package org.djlplan.cli;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Estimates the remaining time of a task, assuming that each remaining part takes as long as a
 * finished one. There is no estimate in the first few seconds, or before a part is finished.
 */
final class TimeLeft {

    private static final long WORTH_TELLING_SECONDS = 5;

    private final LongSupplier nanoTime;
    private long start;
    private long doneAtStart;

    /**
     * @param nanoTime a clock such as {@link System#nanoTime}
     */
    TimeLeft(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        start = nanoTime.getAsLong();
    }

    /**
     * Begins to count.
     *
     * @param done parts that were already done
     */
    void begin(long done) {
        start = nanoTime.getAsLong();
        doneAtStart = done;
    }

    /** Returns text that follows a message, for example " (about 8 s left)"; often empty. */
    String words(long done, long all) {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - start);
        long since = done - doneAtStart;
        if (since <= 0 || done >= all || seconds < WORTH_TELLING_SECONDS) {
            return "";
        }
        return " (about " + seconds * (all - done) / since + " s left)";
    }
}
