package org.djlplan.memplan.internal.runtime.torch;

import com.sun.jna.Pointer;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.internal.runtime.RunCounters;
import org.djlplan.memplan.internal.runtime.RunEvents;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.thirdparty.guava.primitives.Ints;

/** Places the allocations of a model's predictions, through the native library. */
final class AllocationWatch implements AutoCloseable {

    private static final long NO_PLACE = -1;

    private final Pointer escapes;
    private final Optional<OutputArena.Use> outputs;
    private boolean closed;

    /**
     * @param outputs the arena for allocations that outlive predictions; empty if the engine
     *     allocates these. Closed with this
     */
    AllocationWatch(Optional<OutputArena.Use> outputs) {
        this.outputs = outputs;
        escapes =
                TorchNative.djlplan_escapes_create(
                        outputs.map(OutputArena.Use::address).orElse(null));
    }

    /**
     * Gives this thread's allocations from now on the lowest free places; empty if the thread
     * already has a current run. Allocations that outlived their predictions in earlier runs are
     * placed elsewhere.
     *
     * @param recorded whether they are recorded for planning
     */
    Optional<Run> fit(Arena arena, boolean recorded) {
        return begin(null, arena, recorded);
    }

    private synchronized Optional<Run> begin(Pointer plan, Arena arena, boolean recorded) {
        if (closed) {
            return Optional.empty();
        }
        // There may be no memory left when the run ends.
        long[] counters = new long[RunCounters.COUNT];
        Pointer run =
                TorchNative.djlplan_torch_begin(plan, arena.address(), escapes, recorded ? 1 : 0);
        if (run == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(new Run(run, counters));
        } catch (OutOfMemoryError e) {
            boolean unused = TorchNative.djlplan_torch_pause() != 0;
            TorchNative.djlplan_run_finish(run, counters);
            throw e;
        }
    }

    /** Closes the resource; current runs keep what they use. */
    @Override
    public synchronized void close() {
        if (!closed && escapes != null) {
            TorchNative.djlplan_escapes_delete(escapes);
        }
        outputs.ifPresent(OutputArena.Use::close);
        closed = true;
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
        return new Placing(plan);
    }

    /**
     * A plan in use by predictions. If it is closed while runs use it, it is freed after the last
     * of these runs.
     */
    final class Placing implements AutoCloseable {

        private final Pointer plan;

        private Placing(Pointer plan) {
            this.plan = plan;
        }

        /**
         * Places this thread's allocations from now on; empty if the thread already has a current
         * run.
         */
        Optional<Run> replay(Arena arena) {
            return begin(plan, arena, false);
        }

        @Override
        public void close() {
            TorchNative.djlplan_plan_delete(plan);
        }
    }

    /** One prediction. {@link #finish} must be called exactly once, after {@link #pause}. */
    final class Run {

        /** Below the size from which the C library maps each block separately. */
        private static final long MOST_BYTES_LEFT = 64 << 10;

        private final Pointer run;
        private final long[] counters;

        private Run(Pointer run, long[] counters) {
            this.run = run;
            this.counters = counters;
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
            TorchNative.djlplan_run_limit(run, bytes);
        }

        /**
         * Returns the most bytes that the run needed so far, until {@link #finish}; more than the
         * limit if an allocation was refused.
         */
        long neededBytes() {
            return TorchNative.djlplan_run_needed(run);
        }

        /** Returns the recording so far; empty if memory for it ran out. */
        Optional<AllocationTrace> recorded() {
            return RunEvents.trace(
                            (out, capacity) -> TorchNative.djlplan_run_events(run, out, capacity))
                    .map(
                            trace ->
                                    trace.withFewBytesEscaped(
                                            Ints.checkedCast(
                                                    TorchNative.djlplan_run_paused_at(run)),
                                            MOST_BYTES_LEFT));
        }

        /** Ends a run whose prediction does not begin. */
        void abandon() {
            boolean unusedIdle = pause();
            Outcome unused = finish();
        }

        /** Ends the run. Blocks that are still in use keep their places. */
        Outcome finish() {
            TorchNative.djlplan_run_finish(run, counters);
            if (outputs.isPresent()) {
                outputs.get().note(counters[RunCounters.KEPT_REACHED]);
            }
            return new Outcome(counters);
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
            return counters[RunCounters.DIVERGED] == 0
                    && counters[RunCounters.MISSING] == 0
                    && escaped() == 0;
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
