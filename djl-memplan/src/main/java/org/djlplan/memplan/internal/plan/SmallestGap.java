package org.djlplan.memplan.internal.plan;

/**
 * The smallest gap that fits a unit, on a tie the lowest, between the places that conflict with it
 * (Pisarchyk and Lee 2020, section 5.2, Algorithm 3). The places are added by offset, lowest first.
 */
public final class SmallestGap {

    private final long bytes;
    private final long alignmentBytes;
    private long freeFrom;
    private long gapBytes = Long.MAX_VALUE;

    /** Offset of the best gap so far; −1 if none fits. */
    private long best = -1;

    /**
     * @param bytes size of the unit
     * @param alignmentBytes of its offset
     */
    public SmallestGap(long bytes, long alignmentBytes) {
        this.bytes = bytes;
        this.alignmentBytes = alignmentBytes;
    }

    /**
     * Adds a place that conflicts with the unit.
     *
     * @param start offset of its first byte
     * @param end offset behind its last byte
     */
    public void add(long start, long end) {
        long begin = behindAll();
        if (start - begin >= bytes && start - freeFrom < gapBytes) {
            best = begin;
            gapBytes = start - freeFrom;
        }
        freeFrom = Math.max(freeFrom, end);
    }

    /** Returns whether no further place can leave a better gap. */
    boolean isPerfect() {
        return best >= 0 && gapBytes == bytes;
    }

    /** Returns the unit's offset in bytes: in the gap or, if none fits, behind all places. */
    public long offset() {
        return best < 0 ? behindAll() : best;
    }

    private long behindAll() {
        long rest = alignmentBytes == 1 ? 0 : freeFrom % alignmentBytes;
        return rest == 0 ? freeFrom : freeFrom + alignmentBytes - rest;
    }
}
