package org.djlplan.memplan.study.shared;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * What {@link OptimalObjects} found.
 *
 * @param plan the smallest plan found
 * @param lowerBoundBytes no plan of the problem is smaller than this: the sum of positional maxima,
 *     or what the search proved beyond it
 */
public record SharedSearchResult(SharedObjectsPlan plan, long lowerBoundBytes) {

    public SharedSearchResult {
        checkArgument(
                lowerBoundBytes <= plan.totalBytes(),
                "a plan of %s bytes, but none is below %s",
                plan.totalBytes(),
                lowerBoundBytes);
    }

    /** Returns whether no plan is smaller. */
    public boolean provedMinimal() {
        return plan.totalBytes() == lowerBoundBytes;
    }
}
