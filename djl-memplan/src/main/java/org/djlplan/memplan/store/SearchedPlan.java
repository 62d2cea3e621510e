package org.djlplan.memplan.store;

import static com.google.common.base.Preconditions.checkArgument;

import org.djlplan.memplan.plan.OffsetPlan;

/**
 * The smallest plan that is known after a search.
 *
 * @param plan where every tensor lies
 * @param provedMinimal whether it was proved that none is smaller
 * @param searchedMillis how long the search might have taken: one that may take longer is worth its
 *     while, unless nothing is left to find
 */
public record SearchedPlan(OffsetPlan plan, boolean provedMinimal, long searchedMillis) {

    public SearchedPlan {
        checkArgument(searchedMillis >= 0, "searched for %s ms", searchedMillis);
    }
}
