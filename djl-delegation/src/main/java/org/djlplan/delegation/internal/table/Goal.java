package org.djlplan.delegation.internal.table;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.OptionalLong;

/**
 * The goal of a choice.
 *
 * @param objective the figure to minimize
 * @param maxMemoryBytes limit of a candidate's memory; empty for no limit
 */
public record Goal(Objective objective, OptionalLong maxMemoryBytes) {

    public Goal {
        checkArgument(
                maxMemoryBytes.isEmpty() || maxMemoryBytes.getAsLong() > 0,
                "maxMemoryBytes: %s",
                maxMemoryBytes);
    }

    /** Returns whether the goal involves memory. */
    public boolean asksForMemory() {
        return objective != Objective.LATENCY || maxMemoryBytes.isPresent();
    }

    /** The figure that a choice minimizes. */
    public enum Objective {
        /** The median latency of a prediction. */
        LATENCY,
        /** The memory that a model takes; on a tie, the faster candidate. */
        MEMORY,
        /** The product of both, so that one percent of either weighs the same. */
        BALANCED
    }
}
