package org.djlplan.memplan.internal.runtime.torch;

import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.RunCounters;
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
     * Takes over a plan of recorded allocations.
     *
     * @throws IllegalArgumentException if it refuses the plan
     */
    Placing take(AllocationTrace trace, OffsetPlan plan);

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

        /**
         * Limits the bytes that the run may need, before its first allocation. The engine fails to
         * make an allocation beyond the limit.
         */
        void limit(long bytes);

        /**
         * Returns the most bytes that the run needed so far, until {@link #finish}; more than the
         * limit if an allocation was refused.
         */
        long neededBytes();

        /** Returns the recording so far; empty if memory for it ran out. */
        Optional<AllocationTrace> recorded();

        /** Ends the run. Blocks that are still in use keep their places. */
        Outcome finish();
    }

    /** The result of a prediction's allocations. */
    final class Outcome {

        /** An arena that is larger than the bytes in use by no more than this is good enough. */
        private static final long LITTLE_BYTES = 4 << 20;

        private static final int LITTLE_PART = 20;

        private final long[] counters;
        private final ImmutableSet<Integer> alive;

        /**
         * @param counters by {@link RunCounters}
         * @param alive numbers of the planned allocations that outlive the prediction
         */
        Outcome(long[] counters, Set<Integer> alive) {
            this.counters = counters.clone();
            this.alive = ImmutableSet.copyOf(alive);
        }

        /** Returns the counters, by {@link RunCounters}. */
        long[] counters() {
            return counters.clone();
        }

        /** Returns the numbers of the planned allocations that outlive the prediction. */
        Set<Integer> alive() {
            return alive;
        }

        /** Returns how many allocations in the arena outlive the prediction. */
        long escaped() {
            return counters[RunCounters.ALIVE];
        }

        /** Returns the end of the highest block in the arena. */
        long reachedBytes() {
            return counters[RunCounters.REACHED];
        }

        /** Returns whether the prediction allocated as planned. */
        boolean asPlanned() {
            return counters[RunCounters.DIVERGED] == 0 && counters[RunCounters.MISSING] == 0;
        }

        /** Returns whether the arena is clearly larger than the bytes that were in use at once. */
        boolean isWasteful() {
            return isMuchMore(reachedBytes(), counters[RunCounters.MOST_BYTES]);
        }

        /** Returns whether an arena is clearly larger than another one. */
        static boolean isMuchMore(long bytes, long other) {
            return bytes - other > Math.max(LITTLE_BYTES, other / LITTLE_PART);
        }
    }
}
