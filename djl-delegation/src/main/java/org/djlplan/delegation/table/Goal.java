package org.djlplan.delegation.table;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.OptionalLong;

/**
 * The goal of a choice.
 *
 * @param objective what is made small
 * @param maxMemoryBytes what a candidate's memory may be at most; empty for no limit
 */
public record Goal(Objective objective, OptionalLong maxMemoryBytes) {

    public Goal {
        checkArgument(
                maxMemoryBytes.isEmpty() || maxMemoryBytes.getAsLong() > 0,
                "maxMemoryBytes: %s",
                maxMemoryBytes);
    }

    /** Returns whether memory has anything to do with it. */
    public boolean asksForMemory() {
        return objective != Objective.LATENCY || maxMemoryBytes.isPresent();
    }

    /** The figure that a choice makes as small as possible. */
    public enum Objective {
        /** The median latency of a prediction. */
        LATENCY,
        /** The memory that a model takes; the faster of two that take as much. */
        MEMORY,
        /** The product of both, so that one percent of either counts the same. */
        BALANCED
    }
}
