package org.djlplan.memplan.internal.runtime.torch;

import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;

/**
 * The arenas of one model's predictions: the pool that they are leased from, and the watch of
 * allocations in them. This class also begins online predictions, which have no plan: each
 * allocation gets the lowest free place in an arena that grows as necessary.
 */
final class TorchArenas implements AutoCloseable {

    private final AllocationWatch watch;
    private final ArenaPool pool;
    private final boolean empty;
    private final Consumer<Throwable> trouble;
    private final ArenaPool.Need need;

    /**
     * @param watch closed with this
     * @param empty whether an arena in which arrays stay is left to these, so that predictions of
     *     the same kind need the same bytes
     * @param trouble receives errors of endings, so that they do not reach a prediction's caller
     */
    TorchArenas(AllocationWatch watch, ArenaPool pool, boolean empty, Consumer<Throwable> trouble) {
        this.watch = watch;
        this.pool = pool;
        this.empty = empty;
        this.trouble = trouble;
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
    }

    /**
     * Begins an online prediction on this thread; empty if there is no arena for it, or a run is
     * current.
     *
     * @param recorded whether its allocations are recorded for planning
     */
    Optional<TorchPrediction> begin(boolean recorded, Ending ending) {
        return begin(
                need.tryLease(),
                arena -> watch.fit(arena, recorded),
                recorded || empty,
                ending,
                () -> {});
    }

    /**
     * Begins a pass on this thread that allocates differently from predictions. Memory that it
     * frees is returned to the system at once, because later predictions do not need it. Empty as
     * for {@link #begin(boolean, Ending)}.
     */
    Optional<TorchPrediction> beginOneOff() {
        pool.freeIdle();
        return begin(
                need.tryLease(),
                arena -> watch.fit(arena, false),
                empty,
                (run, failed) -> run.finish(),
                pool::trimIdle);
    }

    /**
     * Begins a prediction on this thread in an arena of its own; empty if there is none.
     *
     * @param bytes size of the arena
     * @param replay begins the run
     */
    Optional<TorchPrediction> beginAlone(
            long bytes, Function<Arena, Optional<AllocationWatch.Run>> replay, Ending ending) {
        return begin(need.tryLeaseAlone(bytes), replay, true, ending, () -> {});
    }

    /**
     * Begins a run in a leased arena; empty if it does not begin. Then, and if there is no memory
     * for it, the lease is closed.
     *
     * @param start begins the run
     * @param needsPlaces whether later predictions have plans, whose places must be free
     * @param afterwards runs when the lease is over
     */
    private Optional<TorchPrediction> begin(
            Optional<ArenaPool.Lease> lease,
            Function<Arena, Optional<AllocationWatch.Run>> start,
            boolean needsPlaces,
            Ending ending,
            Runnable afterwards) {
        if (lease.isEmpty()) {
            return Optional.empty();
        }
        Optional<AllocationWatch.Run> run = Optional.empty();
        Optional<TorchPrediction> begun = Optional.empty();
        try {
            run = start.apply(lease.get().arena());
            begun =
                    run.map(
                            started ->
                                    new Begun(started, lease.get(), needsPlaces, ending, afterwards)
                                            .prediction());
        } finally {
            if (begun.isEmpty()) {
                run.ifPresent(AllocationWatch.Run::abandon);
                lease.get().close();
            }
        }
        return begun;
    }

    /** A run in a leased arena. The native library stays loaded until it ends. */
    private final class Begun {

        private final AllocationWatch.Run run;
        private final ArenaPool.Lease lease;
        private final boolean needsPlaces;
        private final Ending ending;
        private final Runnable afterwards;
        private final NativeLoader.Use use = NativeLoader.hold();

        Begun(
                AllocationWatch.Run run,
                ArenaPool.Lease lease,
                boolean needsPlaces,
                Ending ending,
                Runnable afterwards) {
            this.run = run;
            this.lease = lease;
            this.needsPlaces = needsPlaces;
            this.ending = ending;
            this.afterwards = afterwards;
        }

        TorchPrediction prediction() {
            return new TorchPrediction(run, this::end);
        }

        /** Ends the run and returns its arena, even if there is no memory for the outcome. */
        private void end(boolean failed) {
            try (use) {
                AllocationWatch.Outcome outcome = ending.end(run, failed);
                if (needsPlaces && outcome.escaped() > 0) {
                    lease.abandon();
                } else {
                    lease.close(outcome.reachedBytes());
                }
            } catch (RuntimeException | Error e) {
                // Arrays, or the run itself, may still be in the arena.
                lease.abandon();
                trouble.accept(e);
            }
            afterwards.run();
        }
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
