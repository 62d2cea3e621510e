package org.djlplan.memplan.runtime.torch;

import com.google.common.collect.ImmutableSet;
import java.util.Set;

/**
 * What became of a prediction's planned allocations.
 *
 * @param placed got their planned place
 * @param refused had to go to the engine's allocator, as their place was still in use
 * @param diverged came after the first that was of another size than planned: to the engine's
 *     allocator
 * @param missing were planned and not made
 * @param alive numbers of those that outlive the prediction
 */
record RunOutcome(long placed, long refused, long diverged, long missing, Set<Integer> alive) {

    RunOutcome {
        alive = ImmutableSet.copyOf(alive);
    }

    /** Returns whether the prediction allocated in the way that was recorded. */
    boolean asRecorded() {
        return diverged == 0 && missing == 0;
    }

    /** Returns the number of allocations that the engine's allocator served against the plan. */
    long unplanned() {
        return refused + diverged;
    }
}
