package org.djlplan.study.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class ParetoTest {

    @Test
    void front_candidates_hasThoseNotBeatenInBoth() {
        Entry.Measured fast = measured(1, 10, 50);
        Entry.Measured beaten = measured(2, 11, 50);
        Entry.Measured between = measured(3, 15, 30);
        Entry.Measured small = measured(0, 90, 10);
        ProfileTable table =
                new ProfileTable(
                        List.of(),
                        List.of(small, beaten, between, fast),
                        fast.candidate(),
                        "fast",
                        0,
                        0);

        assertEquals(List.of(fast, between, small), Pareto.front(table));
    }

    private static Entry.Measured measured(int kernels, long nanos, long bytes) {
        return new Entry.Measured(
                new Candidate(
                        kernels == 0 ? ImmutableSortedSet.of() : ImmutableSortedSet.of(kernels), 1),
                kernels,
                new Latency(nanos, nanos, nanos, 1),
                bytes,
                List.of());
    }
}
