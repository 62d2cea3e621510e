package org.djlplan.memplan.internal.djl.liveness;

import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * Decides when a garbage collection is worthwhile to find unreachable arrays of a pass: when the
 * memory allocated since the last collection exceeds a fraction of all memory that the pass has
 * allocated so far. So unreachable arrays take, in addition to the memory in use, at most that
 * fraction of the memory that the pass takes in DJL. The number of collections grows with the
 * logarithm of the pass's size.
 *
 * <p>The JVM may be configured not to collect on demand, or a large heap may take long. So there
 * are no more collections after a few futile ones, or after a single long one.
 */
final class Reclaimer {

    /** Less memory is not worth a garbage collection. */
    private static final long FREE_BYTES = 16 << 20;

    private static final int SHARE = 5;

    /** Number of arrays that any block may have in use at a time. */
    private static final int IN_USE = 3;

    private static final int MOST_FUTILE = 3;
    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private long createdBytes;
    private long aliveBytes;
    private long largestBytes;
    private long limitBytes = FREE_BYTES;
    private int futile;

    /** Adds the bytes of a created array. */
    void created(long bytes) {
        createdBytes += bytes;
        aliveBytes += bytes;
        largestBytes = Math.max(largestBytes, bytes);
    }

    /** Subtracts the bytes of a closed array. */
    void closed(long bytes) {
        aliveBytes -= bytes;
    }

    /** Sets the bytes that are alive, after a new count. */
    void left(long bytes) {
        aliveBytes = bytes;
    }

    /** Returns whether enough memory is alive to search for unreachable arrays. */
    boolean due() {
        return futile < MOST_FUTILE
                && aliveBytes > limitBytes
                && aliveBytes > IN_USE * largestBytes;
    }

    /**
     * Collects garbage.
     *
     * @param closing closes the arrays found unreachable, and returns their number
     */
    void collect(IntSupplier closing) {
        long start = System.nanoTime();
        System.gc();
        boolean tooLong = System.nanoTime() - start > LONGEST_NANOS;
        boolean found = closing.getAsInt() > 0;
        futile = tooLong ? MOST_FUTILE : found ? 0 : futile + 1;
        limitBytes = aliveBytes + Math.max(FREE_BYTES, createdBytes / SHARE);
    }
}
