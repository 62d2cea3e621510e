package org.djlplan.cli.tune;

import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.cli.tune.Study.PartitionCost;
import org.djlplan.cli.tune.Study.SetTime;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.study.delegation.Piece;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * A study of a chain of twelve operators with invented times. The delegate supports operators 0–3,
 * 5–6 and 8–10.
 */
final class SampleStudies {

    static final ImmutableList<SortedSet<Integer>> PARTITIONS =
            ImmutableList.of(closed(0, 3), closed(5, 6), closed(8, 10));

    private static final long MILLI = 1_000_000;

    private SampleStudies() {}

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

    static Study study() {
        List<PartitionCost> costs =
                List.of(
                        new PartitionCost(unit(0, 1_000_000), 20 * MILLI, 40 * MILLI),
                        new PartitionCost(unit(1, 3_000_000), 30 * MILLI, 10 * MILLI),
                        new PartitionCost(unit(2, 9_000_000), 35 * MILLI, 5 * MILLI));
        List<SetTime> sets =
                List.of(
                        set(union(2), SetNames.NOTHING, 90),
                        set(union(2, 1), "1 of 3", 110, 1),
                        set(union(2, 3), "3 of 3", 60, 3),
                        set(union(2, 1, 3), "1,3 of 3", 80, 1, 3),
                        set(union(2, 2, 3), "2,3 of 3", 40, 2, 3),
                        new SetTime(
                                Set.of(1, 2),
                                true,
                                "1,2 of 3",
                                new Entry.Failed(
                                        union(2, 1, 2),
                                        CandidateException.Kind.TIMED_OUT,
                                        "no answer in 30 s")),
                        set(union(2, 1, 2, 3), SetNames.EVERYTHING, 60, 1, 2, 3));
        return new Study(
                "<net> & co.tflite",
                12,
                3,
                2,
                costs,
                8,
                sets,
                List.of(Set.of(1), Set.of(1, 3), Set.of(1, 2, 3)),
                table(),
                700,
                21_000 * MILLI);
    }

    private static Piece unit(int partition, long flops) {
        return new Piece(PARTITIONS.get(partition), partition, flops, 1 << 19, 3 << 10);
    }

    private static SetTime set(Candidate candidate, String name, long millis, Integer... touched) {
        return new SetTime(
                ImmutableSet.copyOf(touched), true, name, measured(candidate, millis, 1 << 20));
    }
}
