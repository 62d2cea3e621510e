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
     * Gives this thread's allocations from now on the lowest free places; empty if the thread
     * already has a current run. Allocations that outlived their predictions in earlier runs are
     * placed elsewhere.
     *
     * @param recorded whether they are recorded for planning
     */
    Optional<Run> fit(Arena arena, boolean recorded);

    /** Closes the resource; current runs keep what they use. */
    @Override
    void close();

    /**
     * Takes over a plan.
     *
     * @throws IllegalArgumentException if it refuses the plan
     */
    Placing take(AllocationPlans.Placement placement);

    /**
     * Takes over the plan of a shape that was not recorded.
     *
     * @throws IllegalArgumentException if it refuses the plan
     */
    Placing take(QuickPlan plan);

    /**
     * A plan in use by predictions. If it is closed while runs use it, it is freed after the last
     * of these runs.
     */
    interface Placing extends AutoCloseable {

        /**
         * Places this thread's allocations from now on; empty if the thread already has a current
         * run.
         */
        Optional<Run> replay(Arena arena);

        @Override
        void close();
    }

    /** One prediction. {@link #finish} must be called exactly once, after {@link #pause}. */
    interface Run {

        /**
         * Leaves this thread's allocations to the engine again.
         *
         * @return whether no placed block is in use any more, so that the run may be finished at
         *     once
         */
        boolean pause();

        /** Returns the recording so far; empty if memory for it ran out. */
        Optional<AllocationTrace> recorded();

        /** Ends the run. Blocks that are still in use keep their places. */
        Outcome finish();
    }

    /**
     * The result of a prediction's allocations.
     *
     * @param placed number of allocations that got their planned place
     * @param refused number of allocations that got another place, because the planned one was
     *     still in use
     * @param diverged number of allocations from the first one with an unplanned size to the last
     *     one
     * @param missing number of planned allocations that were not made
     * @param outside number of allocations for which the arena had no room
     * @param alive indices of the planned allocations that outlive the prediction
     * @param escaped how many allocations in the arena outlive the prediction
     * @param reachedBytes the end of the highest block in the arena
     * @param mostBytes the most bytes of the arena that were in use at once
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

        /** Returns whether the prediction allocated as recorded. */
        boolean asRecorded() {
            return diverged == 0 && missing == 0;
        }

        /** Returns the number of allocations that did not get their planned place. */
        long unplanned() {
            return refused + diverged + outside;
        }
    }
}
