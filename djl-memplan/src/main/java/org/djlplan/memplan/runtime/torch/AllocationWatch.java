package org.djlplan.memplan.runtime.torch;

import com.google.common.collect.ImmutableSet;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.runtime.Arena;
import org.djlplan.memplan.source.trace.AllocationTrace;

/**
 * Records and places the allocations of predictions: the native library, or what stands in for it.
 */
interface AllocationWatch {

    /** Records this thread's allocations from now on; empty if a run is current on it already. */
    Optional<Run> record();

    /**
     * Takes a plan over.
     *
     * @throws IllegalArgumentException if it refuses the plan
     */
    Placing take(AllocationPlans.Placement placement);

    /** A plan as predictions use it. Runs that use it keep it; closing it is then deferred. */
    interface Placing extends AutoCloseable {

        /**
         * Places this thread's allocations from now on; empty if a run is current on it already.
         *
         * @param atMost whether allocations may also be smaller than planned
         */
        Optional<Run> replay(Arena arena, boolean atMost);

        @Override
        void close();
    }

    /** One prediction that is recorded or placed. Finished exactly once, after the pause. */
    interface Run {

        /**
         * Leaves this thread's allocations to the engine again.
         *
         * @return whether nothing that was placed is in use any more, so that it may be finished at
         *     once
         */
        boolean pause();

        /** Returns what was recorded up to now; empty if memory for it ran out. */
        Optional<AllocationTrace> recorded();

        /**
         * Ends the run. If blocks are still in use, its arena is no longer the caller's to free.
         */
        Outcome finish();
    }

    /**
     * The fate of a prediction's planned allocations.
     *
     * @param placed got their planned place
     * @param refused had to go to the engine's allocator, as their place was still in use
     * @param diverged came after the first that did not fit what was planned: to the engine's
     *     allocator
     * @param missing were planned and not made
     * @param alive numbers of those that outlive the prediction
     */
    record Outcome(long placed, long refused, long diverged, long missing, Set<Integer> alive) {

        public Outcome {
            alive = ImmutableSet.copyOf(alive);
        }

        /** Returns whether the prediction allocated in the way that was recorded. */
        boolean asRecorded() {
            return diverged == 0 && missing == 0;
        }

        /** Returns whether every place was free when it was needed, and is free again. */
        boolean asPlanned() {
            return asRecorded() && refused == 0 && alive.isEmpty();
        }

        /**
         * Returns the number of allocations that the engine's allocator served against the plan.
         */
        long unplanned() {
            return refused + diverged;
        }
    }
}
