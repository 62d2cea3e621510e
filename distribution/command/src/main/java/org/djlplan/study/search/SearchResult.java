package org.djlplan.study.search;

import org.djlplan.memplan.internal.plan.OffsetPlan;

/**
 * The result of a search.
 *
 * @param plan the smallest plan known when the search ended
 * @param provedMinimal whether no smaller plan exists
 * @param lowerBoundBytes a lower bound of all plans: the maximum breadth, or a larger one that the
 *     search proved
 * @param nodes number of examined partial plans
 */
public record SearchResult(
        OffsetPlan plan, boolean provedMinimal, long lowerBoundBytes, long nodes) {}
