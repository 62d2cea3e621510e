package org.djlplan.memplan.planning;

import com.google.common.collect.ImmutableList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import org.djlplan.memplan.source.trace.Allocation;
import org.djlplan.memplan.source.trace.AllocationTrace;
import org.djlplan.memplan.testing.TightGraph;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/** The tensors of {@link TightGraph} as allocations. */
public final class TightTrace {

    private TightTrace() {}

    /** No two events at once: what is freed after an operator is so before the next allocation. */
    public static AllocationTrace make() {
        List<UsageRecord> records =
                ImmutableList.sortedCopyOf(
                        Comparator.comparingInt(UsageRecord::first)
                                .thenComparingInt(UsageRecord::tensor),
                        UsageRecords.of(TightGraph.of(false)));
        int stride = 2 * records.size();
        ImmutableList.Builder<Allocation> allocations = ImmutableList.builder();
        for (int i = 0; i < records.size(); i++) {
            UsageRecord record = records.get(i);
            allocations.add(
                    new Allocation(
                            record.bytes(),
                            stride * record.first() + i,
                            OptionalInt.of(stride * record.last() + records.size() + i)));
        }
        return new AllocationTrace(allocations.build());
    }
}
