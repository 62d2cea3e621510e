package org.djlplan.memplan.cli;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * An estimate of how long something takes to its end: what is left takes about as long as what was
 * done, part by part. Less than some seconds nobody waits for, and a first part tells too little.
 */
final class TimeLeft {

    private static final long WORTH_TELLING_SECONDS = 5;

    private final LongSupplier nanoTime;
    private long start;
    private long doneAtStart;

    /**
     * @param nanoTime a clock like {@link System#nanoTime}
     */
    TimeLeft(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        start = nanoTime.getAsLong();
    }

    /**
     * Begins to count.
     *
     * @param done parts that were done before
     */
    void begin(long done) {
        start = nanoTime.getAsLong();
        doneAtStart = done;
    }

    /** Returns words that follow a message, for example " (about 8 s left)"; often none. */
    String words(long done, long all) {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - start);
        long since = done - doneAtStart;
        if (since <= 0 || done >= all || seconds < WORTH_TELLING_SECONDS) {
            return "";
        }
        return " (about " + seconds * (all - done) / since + " s left)";
    }
}
