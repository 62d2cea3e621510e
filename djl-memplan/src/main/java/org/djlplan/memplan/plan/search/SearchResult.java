package org.djlplan.memplan.plan.search;

import org.djlplan.memplan.plan.OffsetPlan;

/**
 * The result of a search.
 *
 * @param plan the smallest plan known when the search ended
 * @param provedMinimal whether no smaller plan exists
 * @param lowerBoundBytes what no plan can go below: the maximum breadth, or more where the search
 *     proved it
 * @param nodes how many partial plans it looked at
 */
public record SearchResult(
        OffsetPlan plan, boolean provedMinimal, long lowerBoundBytes, long nodes) {}
