package org.djlplan.delegation.internal;

import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/** Tables to store, small or random. */
public final class SampleTables {

    private SampleTables() {}

    /** Returns a table that has every kind of entry and chooses the first partition. */
    public static ProfileTable small(int threads) {
        Candidate chosen = new Candidate(ContiguousSet.closed(0, 2), threads);
        List<OutputError> close = List.of(new OutputError(ElementType.FLOAT32, 2.2e-6));
        List<OutputError> far =
                List.of(
                        new OutputError(ElementType.FLOAT32, Double.POSITIVE_INFINITY),
                        new OutputError(ElementType.INT8, 3).withOperators(new ByOperator(5, 1.5)));
        return new ProfileTable(
                List.of(chosen.operators(), ImmutableSortedSet.of(5, 6)),
                List.of(
                        measured(Candidate.cpu(threads), 237_000_000, List.of()),
                        measured(chosen, 63_000_000, close),
                        new Entry.Wrong(
                                new Candidate(ImmutableSortedSet.of(0, 1, 2, 5, 6), threads), far),
                        new Entry.Failed(
                                new Candidate(ImmutableSortedSet.of(5, 6), threads),
                                CandidateException.Kind.CRASHED,
                                "exit code 139: \"SIGSEGV\"")),
                chosen,
                "fastest of 2, by 73 %",
                93,
                9_000_000_000L);
    }

    /** Returns a table with two threads in which none of some partitions is chosen. */
    public static ProfileTable cpu(List<? extends Set<Integer>> partitions) {
        return new ProfileTable(
                partitions.stream().<SortedSet<Integer>>map(ImmutableSortedSet::copyOf).toList(),
                List.of(measured(Candidate.cpu(2), 237_000_000, List.of())),
                Candidate.cpu(2),
                "the CPU kernels",
                93,
                9_000_000_000L);
    }

    private static Entry measured(Candidate candidate, long nanos, List<OutputError> errors) {
        Latency latency = new Latency(nanos, nanos - 1000, nanos + 1000, 30);
        return new Entry.Measured(
                candidate, candidate.delegates() ? 1 : 0, latency, 24_500_000, errors);
    }
}
