package org.djlplan.memplan.internal.budget;

import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;

/**
 * The order in which one thread loads and drops pieces of weights. Their addresses are fixed, so
 * only the bytes in memory matter.
 *
 * @param actions in the order of their execution
 * @param needs for each step, the number of actions that must be finished before it runs
 * @param windowBytes largest number of bytes in memory at once
 * @param pinnedBytes bytes that are always in memory
 * @param loadedBytes bytes that each prediction loads
 */
public record ResidencyPlan(
        List<Action> actions,
        ImmutableIntArray needs,
        long windowBytes,
        long pinnedBytes,
        long loadedBytes) {

    /** What happens to a piece. */
    public enum Kind {
        DROP,
        LOAD,
        /** Loaded once, and never dropped. */
        PIN,
        /** Never loaded as a whole; its rows are read on access. */
        LOOK_UP
    }

    /**
     * One action.
     *
     * @param after number of steps that must have finished before it begins
     */
    public record Action(Kind kind, int piece, int after) {}

    public ResidencyPlan {
        actions = ImmutableList.copyOf(actions);
    }
}
