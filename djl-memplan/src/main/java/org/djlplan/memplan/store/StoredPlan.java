package org.djlplan.memplan.store;

import java.util.Optional;
import org.djlplan.memplan.source.block.LivenessTrace;

/**
 * What is known of a model's predictions with inputs of certain types.
 *
 * @param liveness when an imperative block's arrays are closed; empty for other blocks
 * @param allocations where allocations lie; empty as long as they were not recorded
 */
public record StoredPlan(Optional<LivenessTrace> liveness, Optional<AllocationPlan> allocations) {}
