package org.djlplan.memplan.internal.runtime.torch;

import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.formula.QuickPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Places the allocations of a model's predictions; implemented by the native library, or by a fake
 * in tests.
 */
interface AllocationWatch extends AutoCloseable {

    /**
     * Gives this thread's allocations from now on the lowest places that are free; empty if a run
     * is current on it already. Those of which earlier runs showed that they outlive predictions
     * lie elsewhere.
     *
     * @param recorded whether they are noted, to be planned
     */
    Optional<Run> fit(Arena arena, boolean recorded);

    /** Closes the resource; current runs keep what they use. */
    @Override
    void close();

    /**
     * Takes a plan over.
     *
     * @throws IllegalArgumentException if it refuses the plan
     */
    Placing take(AllocationPlans.Placement placement);

    /**
     * Takes the plan of a shape over that was not recorded.
     *
     * @throws IllegalArgumentException if it refuses the plan
     */
    Placing take(QuickPlan plan);

    /**
     * A plan in use by predictions. Runs that use it keep it alive; closing it is then deferred.
     */
    interface Placing extends AutoCloseable {

        /**
         * Places this thread's allocations from now on; empty if a run is current on it already.
         */
        Optional<Run> replay(Arena arena);

        @Override
        void close();
    }

    /** One prediction. Must be finished exactly once, after the pause. */
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

        /** Ends the run. Blocks that are still in use keep their places. */
        Outcome finish();
    }

    /**
     * The result of a prediction's allocations.
     *
     * @param placed got their planned place
     * @param refused got another place, because the planned one was still in use
     * @param diverged came after the first one whose size was not planned
     * @param missing were planned and not made
     * @param outside found no room in the arena
     * @param alive numbers of the planned ones that outlive the prediction
     * @param escaped how many allocations in the arena outlive the prediction
     * @param reachedBytes up to where they lay in the arena
     * @param mostBytes how many bytes of the arena they had in use at once
     */
    record Outcome(
            long placed,
            long refused,
            long diverged,
            long missing,
            long outside,
            Set<Integer> alive,
            long escaped,
            long reachedBytes,
            long mostBytes) {

        public Outcome {
            alive = ImmutableSet.copyOf(alive);
        }

        /** Returns whether the prediction allocated in the way that was recorded. */
        boolean asRecorded() {
            return diverged == 0 && missing == 0;
        }

        /** Returns the number of allocations that got other places than they should. */
        long unplanned() {
            return refused + diverged + outside;
        }
    }
}
