package org.djlplan.memplan.internal.runtime.torch;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.memplan.internal.formula.QuickPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.ArenaPool;

/**
 * The arenas of one model's predictions: the pool that they are leased from, how many may be leased
 * at once, and the watch of allocations in them. Begins online predictions, which have no plan:
 * each of their allocations gets the lowest free place, in an arena that grows as necessary.
 */
final class TorchArenas implements AutoCloseable {

    private final AllocationWatch watch;
    private final ArenaPool pool;
    private final int most;
    private final TorchPrediction.Guard guard;
    private final ArenaPool.Need need;

    /**
     * @param watch closed with this
     * @param most how many arenas of the pool may be in use at once
     * @param guard receives errors of endings, because they do not concern a prediction's caller
     */
    TorchArenas(AllocationWatch watch, ArenaPool pool, int most, TorchPrediction.Guard guard) {
        this.watch = watch;
        this.pool = pool;
        this.most = most;
        this.guard = guard;
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
     * Begins an online prediction on this thread that is not recorded; empty if there is no arena
     * for it, or a run is current.
     *
     * @param wait how long to wait for an arena
     * @param tally counts what becomes of it
     */
    Optional<TorchPrediction> begin(Duration wait, AllocationSequence.Tally tally) {
        return begin(wait, false, (run, failed) -> tally.finish(run));
    }

    /**
     * Begins an online prediction on this thread; empty if there is no arena for it, or a run is
     * current.
     *
     * @param wait how long to wait for an arena
     * @param recorded whether its allocations are recorded, to be planned
     */
    Optional<TorchPrediction> begin(Duration wait, boolean recorded, Ending ending) {
        Optional<ArenaPool.Lease> lease = need.tryLease(most, wait);
        if (lease.isEmpty()) {
            return Optional.empty();
        }
        return begin(lease.get(), watch.fit(lease.get().arena(), recorded), recorded, ending);
    }

    private Optional<TorchPrediction> begin(
            ArenaPool.Lease lease,
            Optional<AllocationWatch.Run> run,
            boolean needsPlaces,
            Ending ending) {
        if (run.isEmpty()) {
            lease.close();
            return Optional.empty();
        }
        return Optional.of(
                guarded(
                        run.get(),
                        lease,
                        (ended, failed) -> endRun(ended, failed, lease, needsPlaces, ending)));
    }

    /**
     * Returns the prediction of a run that has begun in a leased arena; where that fails, the run
     * is finished and the lease closed.
     */
    TorchPrediction guarded(
            AllocationWatch.Run run, ArenaPool.Lease lease, TorchPrediction.Ending ending) {
        try {
            return TorchPrediction.of(run, () -> guard.guarded(ending));
        } catch (RuntimeException | Error e) {
            lease.close();
            throw e;
        }
    }

    /**
     * Begins a pass on this thread whose allocations are not those of predictions. What it frees is
     * returned to the system at once, because later predictions do not need it. Empty as for {@link
     * #begin(Duration, AllocationSequence.Tally)}.
     */
    Optional<TorchPrediction> beginOneOff() {
        pool.freeIdle();
        return begin(
                Duration.ZERO,
                false,
                new Ending() {
                    @Override
                    public AllocationWatch.Outcome end(AllocationWatch.Run run, boolean failed) {
                        return run.finish();
                    }

                    @Override
                    public void closed() {
                        pool.trimIdle();
                    }
                });
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
     */
    Optional<TorchPrediction> beginAlone(
            long bytes, Function<Arena, Optional<AllocationWatch.Run>> replay, Ending ending) {
        return need.tryLeaseAlone(bytes)
                .flatMap(lease -> begin(lease, replay.apply(lease.arena()), true, ending));
    }

    /** Takes a plan over, as {@link AllocationWatch#take(AllocationPlans.Placement)} does. */
    AllocationWatch.Placing take(AllocationPlans.Placement placement) {
        return watch.take(placement);
    }

    /** Takes a plan over, as {@link AllocationWatch#take(QuickPlan)} does. */
    AllocationWatch.Placing take(QuickPlan plan) {
        return watch.take(plan);
    }

    /** Announces predictions that have a plan, until the result is closed. */
    ArenaPool.Need announce(long arenaBytes) {
        return pool.announce(arenaBytes, true);
    }

    /**
     * Leases an arena for a prediction that has a plan, as {@link ArenaPool.Need#tryLease} does.
     */
    Optional<ArenaPool.Lease> tryLease(ArenaPool.Need planned, Duration wait) {
        return planned.tryLease(most, wait);
    }

    /** Returns memory of idle arenas to the system that no plan needs. */
    void trimIdle() {
        pool.trimIdle();
    }

    /** Returns the size of all arenas of the pool. */
    long bytes() {
        return pool.metric().arenaBytes();
    }

    private static void endRun(
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

    /** Lets no online prediction begin from now on. */
    void stopOnline() {
        need.close();
    }

    /** Ends, and closes the watch; running predictions keep what they use. */
    @Override
    public void close() {
        stopOnline();
        watch.close();
    }
}
