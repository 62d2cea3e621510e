package org.djlplan.memplan.internal.runtime.torch;

import com.sun.jna.Pointer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.internal.runtime.RunCounters;
import org.djlplan.memplan.internal.runtime.RunEvents;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.primitives.Ints;

/** Places allocations through the native library. */
final class NativeWatch implements AllocationWatch {

    private static final long NO_PLACE = -1;

    private final Pointer escapes;
    private final Optional<OutputArena.Use> outputs;
    private boolean closed;

    /**
     * @param outputs the arena for allocations that outlive predictions; empty if the engine
     *     allocates these. Closed with this
     */
    NativeWatch(Optional<OutputArena.Use> outputs) {
        this.outputs = outputs;
        escapes =
                TorchNative.djlplan_escapes_create(
                        outputs.map(OutputArena.Use::address).orElse(null));
    }

    @Override
    public Optional<Run> fit(Arena arena, boolean recorded) {
        return begin(null, arena, recorded, 0);
    }

    private synchronized Optional<Run> begin(
            Pointer plan, Arena arena, boolean recorded, int allocations) {
        if (closed) {
            return Optional.empty();
        }
        // There may be no memory left when the run ends.
        long[] counters = new long[RunCounters.COUNT];
        int[] alive = new int[allocations];
        Pointer run =
                TorchNative.djlplan_torch_begin(plan, arena.address(), escapes, recorded ? 1 : 0);
        if (run == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(new NativeRun(run, counters, alive));
        } catch (OutOfMemoryError e) {
            boolean unused = TorchNative.djlplan_torch_pause() != 0;
            TorchNative.djlplan_run_finish(run, counters, alive, alive.length);
            throw e;
        }
    }

    @Override
    public synchronized void close() {
        if (!closed && escapes != null) {
            TorchNative.djlplan_escapes_delete(escapes);
        }
        outputs.ifPresent(OutputArena.Use::close);
        closed = true;
    }

    @Override
    public Placing take(AllocationTrace trace, OffsetPlan places) {
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
        return new NativePlan(plan, bytes.length);
    }

    private final class NativePlan implements Placing {

        private final Pointer plan;
        private final int allocations;

        private NativePlan(Pointer plan, int allocations) {
            this.plan = plan;
            this.allocations = allocations;
        }

        @Override
        public Optional<Run> replay(Arena arena) {
            return begin(plan, arena, false, allocations);
        }

        @Override
        public void close() {
            TorchNative.djlplan_plan_delete(plan);
        }
    }

    private final class NativeRun implements Run {

        /** Below the size from which the C library maps each block separately. */
        private static final long MOST_BYTES_LEFT = 64 << 10;

        private final Pointer run;
        private final long[] counters;
        private final int[] alive;

        /**
         * @param alive one for each planned allocation
         */
        NativeRun(Pointer run, long[] counters, int[] alive) {
            this.run = run;
            this.counters = counters;
            this.alive = alive;
        }

        @Override
        public boolean pause() {
            return TorchNative.djlplan_torch_pause() != 0;
        }

        @Override
        public void limit(long bytes) {
            TorchNative.djlplan_run_limit(run, bytes);
        }

        @Override
        public long neededBytes() {
            return TorchNative.djlplan_run_needed(run);
        }

        @Override
        public Optional<AllocationTrace> recorded() {
            return RunEvents.trace(
                            (out, capacity) -> TorchNative.djlplan_run_events(run, out, capacity))
                    .map(
                            trace ->
                                    trace.withFewBytesEscaped(
                                            Ints.checkedCast(
                                                    TorchNative.djlplan_run_paused_at(run)),
                                            MOST_BYTES_LEFT));
        }

        @Override
        public Outcome finish() {
            Arrays.fill(alive, -1);
            TorchNative.djlplan_run_finish(run, counters, alive, alive.length);
            if (outputs.isPresent()) {
                outputs.get().note(counters[RunCounters.KEPT_REACHED]);
            }
            return new Outcome(
                    counters,
                    counters[RunCounters.ALIVE] == 0 ? ImmutableSet.of() : numbers(alive));
        }

        private static ImmutableSet<Integer> numbers(int[] alive) {
            ImmutableSet.Builder<Integer> numbers = ImmutableSet.builder();
            for (int number : alive) {
                if (number >= 0) {
                    numbers.add(number);
                }
            }
            return numbers.build();
        }
    }
}
