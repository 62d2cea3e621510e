package org.djlplan.memplan.internal.runtime;

import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.memplan.internal.usage.Allocation;
import org.djlplan.memplan.internal.usage.AllocationTrace;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;

/** Reads the events of a recorded run, as {@code djlplan_run_events} writes them. */
public final class RunEvents {

    private static final int VALUES_PER_EVENT = 3;

    private RunEvents() {}

    /** The native function {@code djlplan_run_events} for one run. */
    @FunctionalInterface
    public interface Source {

        /** Writes as many values as fit, and returns how many there are; −1 if they are unknown. */
        long write(long[] out, long capacity);
    }

    /** Returns the allocations of a run; empty if they are not known completely. */
    public static Optional<AllocationTrace> trace(Source events) {
        long count = events.write(new long[0], 0);
        if (count < 0 || count > Integer.MAX_VALUE) {
            return Optional.empty();
        }
        long[] values = new long[(int) count];
        if (events.write(values, values.length) != count) {
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
        return Optional.of(new AllocationTrace(trace.build()));
    }
}
