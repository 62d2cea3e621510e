package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Optional;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;

/**
 * The stored plan of a model's predictions with inputs of certain types.
 *
 * @param liveness when the arrays of an imperative block are closed; empty for other blocks
 * @param allocations the places of allocations; empty if they were not recorded
 */
public record StoredPlan(Optional<LivenessTrace> liveness, Optional<Allocations> allocations) {

    /**
     * The places of a prediction's allocations.
     *
     * @param trace the allocations
     * @param plan offsets of the allocations that may be placed
     */
    public record Allocations(AllocationTrace trace, OffsetPlan plan) {

        public Allocations {
            checkArgument(
                    plan.problem().units().equals(trace.problem().units()),
                    "the plan is not one of these allocations");
        }
    }
}
