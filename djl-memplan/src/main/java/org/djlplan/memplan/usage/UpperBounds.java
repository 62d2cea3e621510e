package org.djlplan.memplan.usage;

import java.util.Collection;

/** What some strategies promise not to exceed. */
public final class UpperBounds {

    private UpperBounds() {}

    /**
     * Returns the bound in bytes of the path cover (LeapMind 2021, "Buffer allocation as path
     * cover"): twice the product of the largest overlap and the largest size. Half of it is enough
     * where groups are stacked whole, because the tensors of a group do not overlap and so raise
     * the skyline by the largest size at most, and because there are as many groups as tensors
     * overlap.
     *
     * @throws ArithmeticException if it does not fit into a long
     */
    public static long pathCoverBytes(Collection<UsageRecord> records) {
        long overlap = PositionalMaxima.of(records).size();
        long largestBytes = records.stream().mapToLong(UsageRecord::bytes).max().orElse(0);
        return Math.multiplyExact(2 * overlap, largestBytes);
    }
}
