package org.djlplan.memplan.internal.runtime;

import java.util.OptionalLong;

/** The extent to which recent predictions used an arena. */
final class Reach {

    /** As many at least have to do without memory that is given back. */
    static final int PREDICTIONS = 32;

    /** What would be given back has to be more than this, and one part in so many. */
    private static final long LITTLE_BYTES = 1 << 20;

    private static final int LITTLE_PART = 8;

    private long before;
    private long now;
    private int predictions;

    /**
     * Notes how far a prediction went.
     *
     * @param bytes of the arena
     * @param atLeast as many predictions have to do without memory that is given back
     * @return the furthest that predictions went of late, if that is clearly less
     */
    OptionalLong note(long reached, long bytes, int atLeast) {
        now = Math.max(now, reached);
        predictions++;
        if (predictions < atLeast) {
            return OptionalLong.empty();
        }
        long furthest = Math.max(before, now);
        before = now;
        now = 0;
        predictions = 0;
        boolean much = bytes - furthest > Math.max(LITTLE_BYTES, bytes / LITTLE_PART);
        return much ? OptionalLong.of(furthest) : OptionalLong.empty();
    }
}
