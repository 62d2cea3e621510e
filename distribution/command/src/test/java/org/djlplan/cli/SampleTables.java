package org.djlplan.cli;

import java.util.List;
import java.util.SortedSet;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * A table of a chain of twelve operators with invented times. The delegate supports operators 0–3,
 * 5–6 and 8–10.
 */
final class SampleTables {

    static final ImmutableList<SortedSet<Integer>> PARTITIONS =
            ImmutableList.of(closed(0, 3), closed(5, 6), closed(8, 10));

    private static final long MILLI = 1_000_000;

    private SampleTables() {}

    static ImmutableSortedSet<Integer> closed(int first, int last) {
        return ImmutableSortedSet.copyOf(ContiguousSet.closed(first, last));
    }

    static Graph graph() {
        return chain(12);
    }

    static Graph chain(int operators) {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(4);
        for (int i = 0; i < operators; i++) {
            tensor = sketch.operator("ABS", List.of(4), tensor);
        }
        return sketch.output(tensor).build();
    }

    /** Returns the candidate of partitions, counted from 1. */
    static Candidate union(int threads, Integer... partitions) {
        ImmutableSortedSet.Builder<Integer> operators = ImmutableSortedSet.naturalOrder();
        for (int partition : partitions) {
            operators.addAll(PARTITIONS.get(partition - 1));
        }
        return new Candidate(operators.build(), threads);
    }

    static Entry.Measured measured(Candidate candidate, long millis, long memoryBytes) {
        List<OutputError> errors =
                List.of(new OutputError(ElementType.FLOAT32, candidate.delegates() ? 2.2e-6 : 0));
        Latency latency =
                new Latency(millis * MILLI, millis * MILLI - 500, millis * MILLI + 2_000, 30);
        int kernels = candidate.delegates() ? 1 : 0;
        return new Entry.Measured(candidate, kernels, latency, memoryBytes, errors);
    }

    /**
     * The set of partitions 2 and 3 is fastest; only the CPU kernels take less memory than 3 alone.
     */
    static ProfileTable table() {
        return new ProfileTable(
                PARTITIONS,
                List.of(
                        measured(union(2), 90, 1 << 20),
                        measured(union(2, 1, 2, 3), 60, 8 << 20),
                        measured(union(2, 2, 3), 40, 4 << 20),
                        measured(new Candidate(closed(0, 1), 2), 88, 2 << 20),
                        new Entry.Failed(
                                union(2, 1, 2), CandidateException.Kind.CRASHED, "SIGSEGV\nmore"),
                        new Entry.Wrong(
                                union(2, 1),
                                List.of(
                                        new OutputError(
                                                ElementType.FLOAT32, Double.POSITIVE_INFINITY),
                                        new OutputError(ElementType.INT8, 3)))),
                union(2, 2, 3),
                "2 of 3 partitions: 40 ms",
                93,
                4_200 * MILLI);
    }
}
