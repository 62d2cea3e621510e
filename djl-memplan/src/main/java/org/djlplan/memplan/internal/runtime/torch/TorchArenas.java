package org.djlplan.memplan.internal.runtime.torch;

import com.sun.jna.Pointer;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.Keeping;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.internal.runtime.RunCounters;
import org.djlplan.memplan.internal.runtime.RunEvents;
import org.djlplan.memplan.internal.usage.Allocation;
import org.djlplan.memplan.internal.usage.AllocationTrace;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Places the allocations of one model's predictions, through the native library: each prediction
 * leases an arena from a pool. An online prediction has no plan, so each allocation gets the lowest
 * free place in an arena that grows as necessary.
 */
final class TorchArenas implements AutoCloseable {

    private static final long NO_PLACE = -1;

    private final ArenaPool pool;
    private final ArenaPool.Need need;
    private final boolean empty;
    private final Consumer<Throwable> trouble;
    private final Optional<OutputArena.Use> outputs;
    private final Pointer escapes;
    private boolean closed;

    /**
     * @param outputs the arena for allocations that outlive predictions; empty if the engine
     *     allocates these. Closed with this
     * @param empty whether an arena in which arrays stay is left to these, so that predictions of
     *     the same kind need the same bytes
     * @param trouble receives errors of endings, so that they do not reach a prediction's caller
     */
    TorchArenas(
            Optional<OutputArena.Use> outputs,
            ArenaPool pool,
            boolean empty,
            Consumer<Throwable> trouble) {
        this.outputs = outputs;
        this.pool = pool;
        this.empty = empty;
        this.trouble = trouble;
        need = pool.announceAny(Keeping.LONG);
        escapes =
                TorchNative.djlplan_escapes_create(
                        outputs.map(OutputArena.Use::address).orElse(null));
    }

    /** Runs when the allocations of a prediction have ended. */
    @FunctionalInterface
    interface Ending {

        /**
         * Finishes the run.
         *
         * @param failed whether the forward pass ended early
         */
        Outcome end(Run run, boolean failed);
    }

    /**
     * Begins an online prediction on this thread; empty if there is no arena for it, or a run is
     * current. Allocations that outlived their predictions in earlier runs are placed elsewhere.
     *
     * @param recorded whether its allocations are recorded for planning
     */
    Optional<TorchPrediction> begin(boolean recorded, Ending ending) {
        return begin(need.tryLease(), recorded || empty, ending, () -> {}, online(recorded));
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
                empty,
                (run, failed) -> run.finish(),
                pool::trimAll,
                online(false));
    }

    /**
     * Begins a prediction on this thread that follows a plan, while no others run; otherwise empty,
     * and if there is no arena for it.
     */
    Optional<TorchPrediction> beginAlone(Placing plan, Ending ending) {
        return begin(need.tryLeaseAlone(plan.arenaBytes), true, ending, () -> {}, plan::begin);
    }

    /** Begins a run in an arena; null if it does not begin. */
    private interface Beginning {
        Pointer in(Arena arena);
    }

    private Beginning online(boolean recorded) {
        return arena -> beginRun(null, arena, recorded);
    }

    private synchronized Pointer beginRun(Pointer plan, Arena arena, boolean recorded) {
        return closed
                ? null
                : TorchNative.djlplan_torch_begin(plan, arena.address(), escapes, recorded ? 1 : 0);
    }

    /**
     * Begins a run in a leased arena; empty if it does not begin. Then, and if there is no memory
     * for it, the lease is closed.
     *
     * @param needsPlaces whether later predictions have plans, whose places must be free
     * @param afterwards runs when the lease is over
     */
    private Optional<TorchPrediction> begin(
            Optional<ArenaPool.Lease> lease,
            boolean needsPlaces,
            Ending ending,
            Runnable afterwards,
            Beginning beginning) {
        if (lease.isEmpty()) {
            return Optional.empty();
        }
        boolean begins = false;
        try {
            // Made first, because there may be no memory for them once the run has begun.
            Run run = new Run(lease.get(), needsPlaces, ending, afterwards);
            Optional<TorchPrediction> prediction = Optional.of(new TorchPrediction(run));
            begins = run.begin(beginning);
            return begins ? prediction : Optional.empty();
        } finally {
            if (!begins) {
                lease.get().close();
            }
        }
    }

    /** The allocations of one prediction. The native library stays loaded until it ends. */
    final class Run {

        /** Below the size from which the C library maps each block separately. */
        private static final long MOST_BYTES_LEFT = 64 << 10;

        private final ArenaPool.Lease lease;
        private final boolean needsPlaces;
        private final Ending ending;
        private final Runnable afterwards;
        private final long[] counters = new long[RunCounters.COUNT];
        private final NativeLoader.Use use = NativeLoader.hold();
        private Pointer handle;

        private Run(
                ArenaPool.Lease lease, boolean needsPlaces, Ending ending, Runnable afterwards) {
            this.lease = lease;
            this.needsPlaces = needsPlaces;
            this.ending = ending;
            this.afterwards = afterwards;
        }

        private boolean begin(Beginning beginning) {
            try {
                handle = beginning.in(lease.arena());
            } finally {
                if (handle == null) {
                    use.close();
                }
            }
            return handle != null;
        }

        /**
         * Leaves this thread's allocations to the engine again.
         *
         * @return whether no placed block is in use any more, so that the run may be finished at
         *     once
         */
        boolean pause() {
            return TorchNative.djlplan_torch_pause() != 0;
        }

        /**
         * Limits the bytes that the run may need, before its first allocation. The engine fails to
         * make an allocation beyond the limit.
         */
        void limit(long bytes) {
            TorchNative.djlplan_run_limit(handle, bytes);
        }

        /**
         * Returns the most bytes that the run needed so far, until {@link #finish}; more than the
         * limit if an allocation was refused.
         */
        long neededBytes() {
            return TorchNative.djlplan_run_needed(handle);
        }

        /** Returns the recording so far; empty if memory for it ran out. */
        Optional<AllocationTrace> recorded() {
            return RunEvents.trace(
                            (out, capacity) ->
                                    TorchNative.djlplan_run_events(handle, out, capacity))
                    .map(
                            trace ->
                                    trace.withFewBytesEscaped(
                                            Ints.checkedCast(
                                                    TorchNative.djlplan_run_paused_at(handle)),
                                            MOST_BYTES_LEFT));
        }

        /** Finishes the run, for its ending. Blocks that are still in use keep their places. */
        Outcome finish() {
            TorchNative.djlplan_run_finish(handle, counters);
            if (outputs.isPresent()) {
                outputs.get().note(counters[RunCounters.KEPT_REACHED]);
            }
            return new Outcome(counters);
        }

        /**
         * Ends the run, once, after the pause, and returns its arena, even if there is no memory
         * for the outcome.
         *
         * @param failed whether the forward pass ended early, and with it the allocations
         */
        void end(boolean failed) {
            try (use) {
                Outcome outcome = ending.end(this, failed);
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

    /**
     * The result of a prediction's allocations.
     *
     * @param counters by {@link RunCounters}
     */
    record Outcome(long[] counters) {

        /** An arena that is larger than the bytes in use by no more than this is good enough. */
        private static final long LITTLE_BYTES = 4 << 20;

        private static final int LITTLE_PART = 20;

        /** Returns how many allocations in the arena outlive the prediction. */
        long escaped() {
            return counters[RunCounters.ALIVE];
        }

        /** Returns the end of the highest block in the arena. */
        long reachedBytes() {
            return counters[RunCounters.REACHED];
        }

        /** Returns whether the prediction allocated as planned, and freed all of it. */
        boolean asPlanned() {
            return counters[RunCounters.DIVERGED] == 0 && escaped() == 0;
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

    /**
     * Takes over a plan of recorded allocations.
     *
     * @throws IllegalArgumentException if the native library refuses the plan
     */
    Placing take(AllocationTrace trace, OffsetPlan places) {
        List<Allocation> allocations = trace.allocations();
        long[] bytes = new long[allocations.size()];
        long[] offsets = new long[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = allocations.get(i).bytes();
            offsets[i] = allocations.get(i).plannable() ? places.offsetOf(i) : NO_PLACE;
        }
        Pointer plan =
                TorchNative.djlplan_plan_create(bytes, offsets, bytes.length, places.totalBytes());
        if (plan == null) {
            throw new IllegalArgumentException(
                    "the native library refuses a plan of " + bytes.length + " allocations");
        }
        return new Placing(plan, Math.max(1, places.totalBytes()));
    }

    /** A plan for predictions. Runs keep the plan that they began with, even once it is closed. */
    final class Placing implements AutoCloseable {

        private final Pointer plan;
        private final long arenaBytes;
        private boolean closed;

        private Placing(Pointer plan, long arenaBytes) {
            this.plan = plan;
            this.arenaBytes = arenaBytes;
        }

        private synchronized Pointer begin(Arena arena) {
            return closed ? null : beginRun(plan, arena, false);
        }

        @Override
        public synchronized void close() {
            if (!closed) {
                closed = true;
                TorchNative.djlplan_plan_delete(plan);
            }
        }
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

    /** Stops predictions from beginning; running ones keep what they use. */
    @Override
    public void close() {
        stopOnline();
        synchronized (this) {
            if (!closed && escapes != null) {
                TorchNative.djlplan_escapes_delete(escapes);
            }
            closed = true;
        }
        outputs.ifPresent(OutputArena.Use::close);
    }
}
