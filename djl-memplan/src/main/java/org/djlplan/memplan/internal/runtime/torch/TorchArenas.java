package org.djlplan.memplan.internal.runtime.torch;

import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;

/**
 * The arenas of one model's predictions: the pool that they are leased from, and the watch of
 * allocations in them. This class also begins online predictions, which have no plan: each
 * allocation gets the lowest free place in an arena that grows as necessary.
 */
final class TorchArenas implements AutoCloseable {

    private final AllocationWatch watch;
    private final ArenaPool pool;
    private final TorchPrediction.Guard guard;
    private final boolean empty;
    private final ArenaPool.Need need;

    /**
     * @param watch closed with this
     * @param empty whether an arena in which arrays stay is left to these, so that predictions of
     *     the same kind need the same bytes
     * @param guard receives errors of endings, so that they do not reach a prediction's caller
     */
    TorchArenas(AllocationWatch watch, ArenaPool pool, boolean empty, TorchPrediction.Guard guard) {
        this.watch = watch;
        this.pool = pool;
        this.empty = empty;
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

        /** Runs after the arena was returned. */
        default void closed() {}
    }

    /**
     * Begins an online prediction on this thread; empty if there is no arena for it, or a run is
     * current.
     *
     * @param recorded whether its allocations are recorded for planning
     */
    Optional<TorchPrediction> begin(boolean recorded, Ending ending) {
        Optional<ArenaPool.Lease> lease = need.tryLease();
        if (lease.isEmpty()) {
            return Optional.empty();
        }
        return begin(lease.get(), arena -> watch.fit(arena, recorded), recorded || empty, ending);
    }

    private Optional<TorchPrediction> begin(
            ArenaPool.Lease lease,
            Function<Arena, Optional<AllocationWatch.Run>> start,
            boolean needsPlaces,
            Ending ending) {
        return begin(
                lease, start, (ended, failed) -> endRun(ended, failed, lease, needsPlaces, ending));
    }

    /**
     * Begins a prediction in a leased arena; empty if its run does not begin. Then, and if it
     * fails, the lease is closed.
     *
     * @param start begins the run
     */
    Optional<TorchPrediction> begin(
            ArenaPool.Lease lease,
            Function<Arena, Optional<AllocationWatch.Run>> start,
            TorchPrediction.Ending ending) {
        Optional<AllocationWatch.Run> run = Optional.empty();
        try {
            run = start.apply(lease.arena());
        } finally {
            if (run.isEmpty()) {
                lease.close();
            }
        }
        return run.isEmpty() ? Optional.empty() : Optional.of(guarded(run.get(), lease, ending));
    }

    /** If there is no memory for the prediction, the run is finished and the lease closed. */
    private TorchPrediction guarded(
            AllocationWatch.Run run, ArenaPool.Lease lease, TorchPrediction.Ending ending) {
        try {
            return TorchPrediction.of(run, () -> guard.guarded(ending));
        } catch (RuntimeException | Error e) {
            lease.close();
            throw e;
        }
    }

    /**
     * Begins a pass on this thread that allocates differently from predictions. Memory that it
     * frees is returned to the system at once, because later predictions do not need it. Empty as
     * for {@link #begin(boolean, Ending)}.
     */
    Optional<TorchPrediction> beginOneOff() {
        pool.freeIdle();
        return begin(
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

    /**
     * Begins a prediction on this thread in an arena of its own; empty if there is none.
     *
     * @param bytes size of the arena
     * @param replay begins the run
     */
    Optional<TorchPrediction> beginAlone(
            long bytes, Function<Arena, Optional<AllocationWatch.Run>> replay, Ending ending) {
        return need.tryLeaseAlone(bytes).flatMap(lease -> begin(lease, replay, true, ending));
    }

    /** Takes over a plan, as {@link AllocationWatch#take} does. */
    AllocationWatch.Placing take(AllocationTrace trace, OffsetPlan plan) {
        return watch.take(trace, plan);
    }

    /**
     * Returns to the system the memory of idle arenas, and of arenas in use when they are returned.
     */
    void trim() {
        pool.trimAll();
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
        try {
            AllocationWatch.Outcome unused =
                    finish(() -> ending.end(run, failed), lease, needsPlaces);
        } finally {
            ending.closed();
        }
    }

    /**
     * Finishes a run and returns its arena, even if there is no memory for the outcome.
     *
     * @param finishing finishes the run
     * @param needsPlaces whether later predictions have plans, whose places must be free
     */
    static AllocationWatch.Outcome finish(
            Supplier<AllocationWatch.Outcome> finishing,
            ArenaPool.Lease lease,
            boolean needsPlaces) {
        AllocationWatch.Outcome outcome;
        try {
            outcome = finishing.get();
        } catch (RuntimeException | Error e) {
            lease.close(0);
            throw e;
        }
        if (needsPlaces && outcome.escaped() > 0) {
            lease.abandon();
        } else {
            lease.close(outcome.reachedBytes());
        }
        return outcome;
    }

    /** Stops online predictions from beginning. */
    void stopOnline() {
        need.close();
    }

    /** Stops online predictions and closes the watch; running predictions keep their arenas. */
    @Override
    public void close() {
        stopOnline();
        watch.close();
    }
}
