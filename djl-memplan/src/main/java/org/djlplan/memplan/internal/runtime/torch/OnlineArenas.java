package org.djlplan.memplan.internal.runtime.torch;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.ArenaPool;

/**
 * Predictions of one model without a plan: each allocation gets the lowest free place, in an arena
 * that grows as necessary.
 */
final class OnlineArenas implements AutoCloseable {

    private final AllocationWatch watch;
    private final ArenaPool.Need need;
    private final int most;

    /**
     * @param most how many arenas of the pool may be in use at once
     */
    OnlineArenas(AllocationWatch watch, ArenaPool pool, int most) {
        this.watch = watch;
        this.most = most;
        need = pool.announceAny();
    }

    /** Runs when the allocations of a prediction have ended. */
    @FunctionalInterface
    interface Ending {

        /**
         * Finishes the run.
         *
         * @param failed whether the forward pass ended early
         */
        AllocationWatch.Outcome end(AllocationWatch.Run run, boolean failed);

        /** Does what has to be done when others may have the arena. */
        default void closed() {}
    }

    /**
     * Begins a prediction on this thread that is not noted; empty if there is no arena for it, or a
     * run is current.
     *
     * @param wait how long to wait for an arena
     * @param tally counts what becomes of it
     * @param guard what an ending that fails is handed to
     */
    Optional<TorchPrediction> begin(
            Duration wait, AllocationSequence.Tally tally, TorchPrediction.Guard guard) {
        return begin(wait, false, (run, failed) -> tally.finish(run), guard);
    }

    /**
     * Begins a prediction on this thread; empty if there is no arena for it, or a run is current.
     *
     * @param wait how long to wait for an arena
     * @param recorded whether its allocations are noted, to be planned
     * @param guard what an ending that fails is handed to
     */
    Optional<TorchPrediction> begin(
            Duration wait, boolean recorded, Ending ending, TorchPrediction.Guard guard) {
        Optional<ArenaPool.Lease> lease = need.tryLease(most, wait);
        if (lease.isEmpty()) {
            return Optional.empty();
        }
        return begin(
                lease.get(), watch.fit(lease.get().arena(), recorded), recorded, ending, guard);
    }

    private static Optional<TorchPrediction> begin(
            ArenaPool.Lease lease,
            Optional<AllocationWatch.Run> run,
            boolean needsPlaces,
            Ending ending,
            TorchPrediction.Guard guard) {
        if (run.isEmpty()) {
            lease.close();
            return Optional.empty();
        }
        return Optional.of(
                TorchPrediction.of(
                        run.get(),
                        () ->
                                guard.guarded(
                                        (ended, failed) ->
                                                end(ended, failed, lease, needsPlaces, ending))));
    }

    /** Returns whether a prediction would have an arena to itself, as those before it had. */
    boolean isAlone() {
        return need.isAlone();
    }

    /**
     * Begins a prediction on this thread that has an arena to itself; empty if it would have none.
     *
     * @param bytes of the arena
     * @param replay begins the run
     * @param guard what an ending that fails is handed to
     */
    Optional<TorchPrediction> beginAlone(
            long bytes,
            Function<Arena, Optional<AllocationWatch.Run>> replay,
            Ending ending,
            TorchPrediction.Guard guard) {
        return need.tryLeaseAlone(bytes)
                .flatMap(lease -> begin(lease, replay.apply(lease.arena()), true, ending, guard));
    }

    private static void end(
            AllocationWatch.Run run,
            boolean failed,
            ArenaPool.Lease lease,
            boolean needsPlaces,
            Ending ending) {
        Optional<AllocationWatch.Outcome> outcome = Optional.empty();
        try {
            outcome = Optional.of(ending.end(run, failed));
        } finally {
            close(lease, outcome, needsPlaces);
            ending.closed();
        }
    }

    /**
     * @param needsPlaces whether those to come have plans, whose places shall be free
     */
    private static void close(
            ArenaPool.Lease lease, Optional<AllocationWatch.Outcome> outcome, boolean needsPlaces) {
        if (needsPlaces && outcome.isPresent() && outcome.get().escaped() > 0) {
            lease.abandon();
        } else {
            lease.close(outcome.map(AllocationWatch.Outcome::reachedBytes).orElse(0L));
        }
    }

    @Override
    public void close() {
        need.close();
    }
}
