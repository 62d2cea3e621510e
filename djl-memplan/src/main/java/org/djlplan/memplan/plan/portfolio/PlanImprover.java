package org.djlplan.memplan.plan.portfolio;

import java.util.OptionalLong;
import org.djlplan.memplan.plan.OffsetPlan;

/** Looks for a smaller plan of the same problem. */
@FunctionalInterface
public interface PlanImprover {

    /**
     * What came of it.
     *
     * @param plan the smallest plan known, perhaps the one that was given
     * @param provedMinimal whether no plan of its problem is smaller
     */
    record Improvement(OffsetPlan plan, boolean provedMinimal) {}

    /**
     * Returns the smallest plan found; ends early when the thread is interrupted, which it then
     * still is.
     *
     * @param incumbent a valid plan
     * @param enoughBytes a plan that fits into this is as good as any; without, the smallest is
     *     wanted
     */
    Improvement improve(OffsetPlan incumbent, OptionalLong enoughBytes);
}
