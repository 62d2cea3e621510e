package org.djlplan.memplan.store;

import static com.google.common.base.Preconditions.checkArgument;

import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.source.trace.AllocationTrace;

/**
 * Where the allocations of a prediction lie.
 *
 * @param trace the allocations
 * @param plan offsets of those that may be placed
 */
public record AllocationPlan(AllocationTrace trace, OffsetPlan plan) {

    public AllocationPlan {
        checkArgument(
                plan.problem().units().equals(trace.problem().units()),
                "the plan is not one of these allocations");
    }
}
