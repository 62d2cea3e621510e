package org.djlplan.memplan.internal.usage;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * All allocations of one prediction on its own thread, in order. The number of an allocation is its
 * position here, and the tensor id of its usage record.
 *
 * @param allocations with ascending times of allocation
 */
public record AllocationTrace(List<Allocation> allocations) {

    public AllocationTrace {
        allocations = ImmutableList.copyOf(allocations);
        int now = -1;
        for (Allocation allocation : allocations) {
            checkArgument(
                    allocation.allocatedAt() > now,
                    "an allocation at %s after one at %s",
                    allocation.allocatedAt(),
                    now);
            now = allocation.allocatedAt();
        }
    }

    /**
     * Returns a usage record for every allocation that a plan may place. Every free has its own
     * time, so two records overlap only if both blocks were in use at once.
     *
     * @throws ArithmeticException if a size overflows when it is aligned
     */
    public PlanningProblem problem() {
        ImmutableList.Builder<UsageRecord> records = ImmutableList.builder();
        for (int i = 0; i < allocations.size(); i++) {
            Allocation allocation = allocations.get(i);
            if (allocation.plannable()) {
                records.add(
                        new UsageRecord(
                                i,
                                allocation.allocatedAt(),
                                allocation.freedAt().orElseThrow(),
                                UsageRecords.alignedBytes(allocation.bytes())));
            }
        }
        return new PlanningProblem(records.build());
    }

    /**
     * Returns this trace, but leaves allocations that outlive the forward pass, such as its
     * outputs, to the engine if they are small. The arena is then free as soon as the pass ends,
     * independent of the caller's use of the outputs.
     *
     * @param passEnds time at which the pass ended; later frees are the caller's
     * @param mostBytes limit of the total size of these allocations
     */
    public AllocationTrace withFewBytesEscaped(int passEnds, long mostBytes) {
        List<Allocation> rest = new ArrayList<>();
        long bytes = 0;
        for (Allocation each : allocations) {
            boolean outlives = each.freedAt().orElse(-1) >= passEnds;
            bytes += outlives ? each.bytes() : 0;
            rest.add(
                    outlives
                            ? new Allocation(each.bytes(), each.allocatedAt(), OptionalInt.empty())
                            : each);
        }
        return bytes <= mostBytes ? new AllocationTrace(rest) : this;
    }
}
