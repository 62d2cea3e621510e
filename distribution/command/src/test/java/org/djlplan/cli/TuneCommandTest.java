package org.djlplan.cli;

import static org.djlplan.cli.SampleTables.closed;
import static org.djlplan.cli.SampleTables.measured;
import static org.djlplan.cli.SampleTables.union;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.junit.jupiter.api.Test;

class TuneCommandTest {

    private static final Goal LATENCY = new Goal(Objective.LATENCY, OptionalLong.empty());

    private static List<Entry> all(int threads) {
        List<Entry> entries = new ArrayList<>();
        for (Set<Integer> set : Sets.powerSet(Set.of(1, 2, 3))) {
            entries.add(measured(union(threads, set.toArray(new Integer[0])), 50, 0));
        }
        return entries;
    }

    private static ProfileTable table(List<Entry> entries, Candidate chosen) {
        return new ProfileTable(SampleTables.PARTITIONS, entries, chosen, "why", 9, 9);
    }

    private static Optional<String> objection(Goal goal, ProfileTable table, ProfileTable... kept) {
        return TuneCommand.ExhaustiveResult.objection(
                SampleTables.graph(), goal, List.of(2), table, List.of(kept).stream().findFirst());
    }

    @Test
    void objection_allUnions_none() {
        ProfileTable table = table(all(2), union(2, 1));
        assertEquals(Optional.empty(), objection(LATENCY, table));
        assertEquals(Optional.empty(), objection(LATENCY, table, table(all(2), union(2, 3))));
    }

    @Test
    void objection_unionMissing_saysHowMany() {
        ProfileTable table = table(all(2).subList(0, 7), Candidate.cpu(2));
        assertEquals(
                Optional.of("7 of 8 sets were measured within the budget"),
                objection(LATENCY, table));
    }

    @Test
    void objection_otherThreads_doNotCount() {
        assertTrue(
                objection(LATENCY, table(all(1), union(1, 1))).orElseThrow().startsWith("0 of 8"));
    }

    @Test
    void objection_memoryCounts_isOne() {
        ProfileTable table = table(all(2), union(2, 1));
        Goal memory = new Goal(Objective.MEMORY, OptionalLong.empty());
        Goal limited = new Goal(Objective.LATENCY, OptionalLong.of(1 << 20));
        assertTrue(objection(memory, table).isPresent());
        assertTrue(objection(limited, table).isPresent());
    }

    @Test
    void objection_piecesAreKept_isOne() {
        Candidate piece = new Candidate(closed(1, 3), 2);
        ProfileTable kept = table(List.of(measured(piece, 20, 0)), piece);
        assertTrue(objection(LATENCY, table(all(2), union(2, 1)), kept).isPresent());
    }

    @Test
    void objection_elevenPartitions_isOne() {
        List<ImmutableSortedSet<Integer>> partitions =
                IntStream.range(0, 11).mapToObj(i -> closed(2 * i, 2 * i)).toList();
        ProfileTable table =
                new ProfileTable(List.copyOf(partitions), List.of(), Candidate.cpu(2), "w", 1, 1);
        assertTrue(
                TuneCommand.ExhaustiveResult.objection(
                                SampleTables.chain(22),
                                LATENCY,
                                List.of(2),
                                table,
                                Optional.empty())
                        .orElseThrow()
                        .contains("11 partitions"));
    }
}
