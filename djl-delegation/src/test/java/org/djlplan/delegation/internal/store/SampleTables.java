package org.djlplan.delegation.internal.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import org.djlplan.delegation.internal.FakeModel;
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

    static Arbitrary<ProfileTable> any() {
        Arbitrary<Candidate> candidates =
                Combinators.combine(
                                sets(), Arbitraries.of(-1, 1, 2, 16), Arbitraries.of(true, false))
                        .as((set, n, built) -> new Candidate(set, n, built && !set.isEmpty()));
        return Combinators.combine(
                        sets().list().ofMaxSize(5),
                        candidates.flatMap(SampleTables::entry).list().ofMaxSize(12),
                        texts().filter(text -> !text.isEmpty()),
                        Arbitraries.integers().greaterOrEqual(0),
                        Arbitraries.longs().greaterOrEqual(0))
                .as(SampleTables::table);
    }

    /** Returns a table that chooses the last measured candidate. */
    private static ProfileTable table(
            List<SortedSet<Integer>> partitions,
            List<Entry> entries,
            String reason,
            int inferences,
            long nanos) {
        List<Candidate> choices = new ArrayList<>(List.of(Candidate.cpu(-1)));
        for (Entry entry : entries) {
            if (entry instanceof Entry.Measured) {
                choices.add(entry.candidate());
            }
        }
        Candidate chosen = choices.get(choices.size() - 1);
        return new ProfileTable(partitions, entries, chosen, reason, inferences, nanos);
    }

    private static Arbitrary<Entry> entry(Candidate candidate) {
        Arbitrary<List<OutputError>> errors =
                Combinators.combine(
                                Arbitraries.of(ElementType.class),
                                Arbitraries.of(0.0, 1e-7, 1.0 / 3, 255.0, 1.0 / 0))
                        .as(OutputError::new)
                        .list()
                        .ofMaxSize(3);
        Arbitrary<Long> nanos = Arbitraries.longs().between(1000, 1L << 40);
        return Arbitraries.oneOf(
                Combinators.combine(nanos, errors).as((n, e) -> measured(candidate, n, e)),
                errors.map(e -> new Entry.Wrong(candidate, e)),
                Combinators.combine(Arbitraries.of(CandidateException.Kind.class), texts())
                        .as((kind, message) -> new Entry.Failed(candidate, kind, message)));
    }

    private static Arbitrary<String> texts() {
        return Arbitraries.strings()
                .ofMaxLength(12)
                .filter(text -> text.codePoints().noneMatch(c -> c >= 0xd800 && c < 0xe000));
    }

    private static Arbitrary<SortedSet<Integer>> sets() {
        return Arbitraries.integers()
                .between(0, FakeModel.OPERATORS - 1)
                .set()
                .map(ImmutableSortedSet::copyOf);
    }
}
