package org.djlplan.memplan.internal.formula;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;

/**
 * The order of a prediction's allocations and frees, without their sizes. Frees between the same
 * two allocations are not ordered, because their order does not affect a plan.
 *
 * @param ends for each allocation, the number of the first allocation that is made after it was
 *     freed, or the number of allocations if it outlives all of them
 */
public record Structure(ImmutableIntArray ends) {

    public Structure {
        for (int i = 0; i < ends.length(); i++) {
            checkArgument(
                    ends.get(i) > i && ends.get(i) <= ends.length(),
                    "allocation %s of %s ends before %s",
                    i,
                    ends.length(),
                    ends.get(i));
        }
    }

    /** Returns the structure of a recorded prediction. */
    static Structure of(AllocationTrace trace) {
        List<Allocation> allocations = trace.allocations();
        int[] times = allocations.stream().mapToInt(Allocation::allocatedAt).toArray();
        ImmutableIntArray.Builder ends = ImmutableIntArray.builder(times.length);
        for (Allocation allocation : allocations) {
            OptionalInt freed = allocation.freedAt();
            // No free happens at the time of an allocation.
            ends.add(
                    freed.isPresent()
                            ? -Arrays.binarySearch(times, freed.getAsInt()) - 1
                            : times.length);
        }
        return new Structure(ends.build());
    }

    /** Written out, because linking a record's generated method at its first use takes long. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Structure structure && ends.equals(structure.ends);
    }

    @Override
    public int hashCode() {
        return ends.hashCode();
    }

    /** Returns the number of allocations. */
    public int size() {
        return ends.length();
    }

    /**
     * Returns a prediction of this structure.
     *
     * @param bytes of each allocation
     * @param left numbers of the allocations that outlive the prediction
     */
    AllocationTrace trace(long[] bytes, Set<Integer> left) {
        ImmutableList.Builder<Allocation> allocations =
                ImmutableList.builderWithExpectedSize(bytes.length);
        for (int i = 0; i < bytes.length; i++) {
            allocations.add(
                    new Allocation(
                            bytes[i],
                            2 * i,
                            left.contains(i)
                                    ? OptionalInt.empty()
                                    : OptionalInt.of(2 * ends.get(i) - 1)));
        }
        return new AllocationTrace(allocations.build());
    }
}
