package org.djlplan.memplan.budget;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableIntArray;
import java.util.List;

/**
 * The order in which one thread loads and drops pieces with fixed addresses, so that only the
 * number of bytes in memory matters, not their place.
 * @param actions in the order in which they are carried out
 * @param needs for each step, how many actions must have been carried out before it runs
 * @param windowBytes the most that may be in memory at once
 * @param pinnedBytes what is in memory all the time
 * @param loadedBytes what each prediction loads
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
        /** Never loaded as a whole: rows of it are read as they are touched. */
        LOOK_UP
    }

    /**
     * One action.
     *
     * @param after how many steps must have finished before it
     */
    public record Action(Kind kind, int piece, int after) {}

    public ResidencyPlan {
        actions = ImmutableList.copyOf(actions);
    }
}
