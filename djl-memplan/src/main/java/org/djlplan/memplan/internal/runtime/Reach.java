package org.djlplan.memplan.internal.runtime;

import java.util.OptionalLong;

/** How far from its beginning recent predictions used an arena. */
final class Reach {

    /** Memory is returned only if it is more than this, and more than one part in this many. */
    private static final long LITTLE_BYTES = 1 << 20;

    private static final int LITTLE_PART = 8;

    private long before;
    private long now;
    private int predictions;
    private long sinceNanos = System.nanoTime();

    /**
     * Notes how far a prediction went.
     *
     * @param bytes size of the arena
     * @param keeping of memory that predictions do not use
     * @return the furthest that recent predictions went, if that is clearly less than the size
     */
    OptionalLong note(long reached, long bytes, Keeping keeping) {
        now = Math.max(now, reached);
        predictions++;
        long nowNanos = System.nanoTime();
        if (!keeping.isOver(predictions, nowNanos - sinceNanos)) {
            return OptionalLong.empty();
        }
        sinceNanos = nowNanos;
        long furthest = Math.max(before, now);
        before = now;
        now = 0;
        predictions = 0;
        boolean much = bytes - furthest > Math.max(LITTLE_BYTES, bytes / LITTLE_PART);
        return much ? OptionalLong.of(furthest) : OptionalLong.empty();
    }
}
