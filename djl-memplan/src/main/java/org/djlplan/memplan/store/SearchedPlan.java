package org.djlplan.memplan.store;

import static com.google.common.base.Preconditions.checkArgument;

import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;

/**
 * The smallest plan that is known of a problem, and how far it was searched.
 *
 * @param plan where everything lies
 * @param provedMinimal whether it was proved that none is smaller
 * @param searchedMillis for how long it might have been searched, 0 if it was not: a search that
 *     may take longer is worth its while, unless nothing is left to find
 */
public record SearchedPlan(OffsetPlan plan, boolean provedMinimal, long searchedMillis) {

    public SearchedPlan {
        checkArgument(searchedMillis >= 0, "searched for %s ms", searchedMillis);
    }

    /** Returns what is kept of a plan. */
    public static SearchedPlan of(EvaluatedPlan plan) {
        return new SearchedPlan(plan.plan(), plan.provedMinimal(), plan.searchedMillis());
    }

    /** Returns the plan, which was found valid, with its figures. */
    public EvaluatedPlan evaluated() {
        return EvaluatedPlan.of(plan, provedMinimal).searchedFor(searchedMillis);
    }
}
