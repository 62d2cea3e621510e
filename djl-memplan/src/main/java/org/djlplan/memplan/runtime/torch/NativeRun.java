package org.djlplan.memplan.runtime.torch;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.common.primitives.Ints;
import com.sun.jna.Pointer;
import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.memplan.runtime.Arena;
import org.djlplan.memplan.source.trace.Allocation;
import org.djlplan.memplan.source.trace.AllocationTrace;

/** A run of the native library. */
final class NativeRun implements TorchRun {

    private static final int VALUES_PER_EVENT = 3;

    /** Below the size from which the C library asks the system for memory of its own. */
    private static final long MOST_BYTES_LEFT = 64 << 10;

    private final Pointer run;
    private final int allocations;

    private NativeRun(Pointer run, int allocations) {
        this.run = run;
        this.allocations = allocations;
    }

    /** Records this thread's allocations from now on; empty if a run is current on it already. */
    static Optional<TorchRun> record() {
        return Optional.ofNullable(TorchNative.djlplan_torch_record())
                .map(run -> new NativeRun(run, 0));
    }

    /** Places this thread's allocations from now on; empty if a run is current on it already. */
    static Optional<TorchRun> replay(NativePlan plan, Arena arena) {
        return Optional.ofNullable(
                        TorchNative.djlplan_torch_replay(plan.pointer(), arena.address()))
                .map(run -> new NativeRun(run, plan.allocations()));
    }

    @Override
    public boolean pause() {
        return TorchNative.djlplan_torch_pause() != 0;
    }

    @Override
    public Optional<AllocationTrace> recorded() {
        long count = TorchNative.djlplan_torch_events(run, new long[0], 0);
        if (count < 0 || count > Integer.MAX_VALUE) {
            return Optional.empty();
        }
        long[] values = new long[(int) count];
        long written = TorchNative.djlplan_torch_events(run, values, values.length);
        if (written != count) {
            return Optional.empty();
        }
        ImmutableList.Builder<Allocation> trace = ImmutableList.builder();
        for (int i = 0; i < values.length; i += VALUES_PER_EVENT) {
            long freedAt = values[i + 2];
            trace.add(
                    new Allocation(
                            values[i],
                            Ints.checkedCast(values[i + 1]),
                            freedAt < 0
                                    ? OptionalInt.empty()
                                    : OptionalInt.of(Ints.checkedCast(freedAt))));
        }
        return Optional.of(
                new AllocationTrace(trace.build())
                        .withFewBytesEscaped(
                                Ints.checkedCast(TorchNative.djlplan_torch_paused_at(run)),
                                MOST_BYTES_LEFT));
    }

    @Override
    public RunOutcome finish() {
        long[] counters = new long[TorchNative.COUNTERS];
        int[] alive = new int[allocations];
        TorchNative.djlplan_torch_finish(run, counters, alive, alive.length);
        ImmutableSet.Builder<Integer> numbers = ImmutableSet.builder();
        for (int i = 0; i < counters[TorchNative.ALIVE]; i++) {
            numbers.add(alive[i]);
        }
        return new RunOutcome(
                counters[TorchNative.PLACED],
                counters[TorchNative.REFUSED],
                counters[TorchNative.DIVERGED],
                counters[TorchNative.MISSING],
                numbers.build());
    }
}
