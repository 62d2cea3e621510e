package org.djlplan.study.search;

import java.util.OptionalLong;

/**
 * The shared state of all workers of a search: the best plan so far, and a lower bound. The search
 * ends when the two meet.
 */
final class Bounds {

    private final Sections sections;
    private final OptionalLong goalBytes;

    /**
     * All totals are sums of sizes, so they are multiples of the greatest common divisor of all
     * sizes.
     */
    private final long granule;

    private volatile long lowerBytes;
    private volatile long bestBytes;
    private volatile boolean cancelled;
    private long[] best;

    /**
     * @param lowerBytes a lower bound of all plans
     * @param best offsets of a valid plan
     * @param goalBytes a capacity that is sufficient
     */
    Bounds(Sections sections, long lowerBytes, long[] best, OptionalLong goalBytes) {
        this.sections = sections;
        this.goalBytes = goalBytes;
        this.lowerBytes = lowerBytes;
        this.best = best.clone();
        bestBytes = totalBytes(best);
        long divisor = 0;
        for (long bytes : sections.bytes) {
            divisor = gcd(divisor, bytes);
        }
        granule = Math.max(1, divisor);
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    private long totalBytes(long[] offsets) {
        long total = 0;
        for (int unit = 0; unit < sections.units; unit++) {
            total = Math.max(total, offsets[unit] + sections.bytes[unit]);
        }
        return total;
    }

    long lowerBytes() {
        return lowerBytes;
    }

    long bestBytes() {
        return bestBytes;
    }

    OptionalLong goalBytes() {
        return goalBytes;
    }

    long granule() {
        return granule;
    }

    synchronized long[] best() {
        return best.clone();
    }

    /** Returns whether there is nothing left to search for. */
    boolean closed() {
        return cancelled
                || bestBytes <= lowerBytes
                || (goalBytes.isPresent()
                        && (bestBytes <= goalBytes.getAsLong()
                                || lowerBytes > goalBytes.getAsLong()));
    }

    /** Returns whether it is already known if a plan fits into {@code capacity}. */
    boolean answered(long capacity) {
        return capacity < lowerBytes || capacity >= bestBytes;
    }

    void cancel() {
        cancelled = true;
    }

    /** Records a plan. */
    synchronized void found(long[] offsets) {
        long total = totalBytes(offsets);
        if (total < bestBytes) {
            best = offsets.clone();
            bestBytes = total;
        }
    }

    /** Records that no plan fits into {@code capacity}. */
    synchronized void refuted(long capacity) {
        long next = Math.floorDiv(capacity, granule) * granule + granule;
        lowerBytes = Math.min(bestBytes, Math.max(lowerBytes, next));
    }
}
