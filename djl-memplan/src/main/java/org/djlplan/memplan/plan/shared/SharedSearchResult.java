package org.djlplan.memplan.plan.shared;

import static com.google.common.base.Preconditions.checkArgument;

import org.djlplan.memplan.plan.SharedObjectsPlan;

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
