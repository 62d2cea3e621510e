package org.djlplan.delegation.choice;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableSortedSet;
import com.google.common.collect.Sets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import org.djlplan.delegation.choice.Race.Contender;
import org.djlplan.delegation.choice.Unions.Union;
import org.djlplan.delegation.partition.Piece;
import org.djlplan.delegation.partition.PieceGraph;
import org.djlplan.delegation.study.FirstN;
import org.djlplan.delegation.study.Pareto;
import org.djlplan.delegation.table.Entry;
import org.djlplan.delegation.table.Entry.Latency;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.Goal.Objective;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.testing.GraphSketch;
import org.junit.jupiter.api.Test;

/** The small pure pieces: memory, unions, preferences, and the rules to compare with. */
class ModelsTest {

    private static final long MB = 1 << 20;

    private static Piece piece(int operator, long weightBytes) {
        return new Piece(ImmutableSortedSet.of(operator), operator, 0, weightBytes, 0);
    }

    @Test
    void memory_ofMeasuredUnions_agrees() {
        List<Piece> pieces = List.of(piece(0, 10 * MB), piece(1, 20 * MB), piece(2, 70 * MB));
        MemoryModel memory = new MemoryModel(pieces, 5 * MB);

        memory.measured(Set.of(0, 1, 2), 3, 205 * MB);
        memory.measured(Set.of(0, 2), 2, 160 * MB);

        assertAll(
                () -> assertEquals(205 * MB, memory.bytes(Set.of(0, 1, 2), 3), MB),
                () -> assertEquals(160 * MB, memory.bytes(Set.of(0, 2), 2), MB),
                () -> assertEquals(5 * MB, memory.bytes(Set.of(), 0), 1),
                // The piece with most weights got most of it.
                () -> assertTrue(memory.bytes(Set.of(2), 1) > 2 * memory.bytes(Set.of(0), 1)));
    }

    @Test
    void memory_smallerWhenDelegated_isNotBelowNothing() {
        MemoryModel memory = new MemoryModel(List.of(piece(0, MB)), 5 * MB);

        memory.measured(Set.of(0), 1, 0);

        assertEquals(0, memory.bytes(Set.of(0), 1), 1e-6 * MB);
    }

    private static PieceGraph chain(int partitions) {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 4, 4, 4);
        List<Set<Integer>> sets = new ArrayList<>();
        for (int p = 0; p < partitions; p++) {
            sets.add(Set.of(sketch.operators()));
            tensor = sketch.conv(tensor, 4, 1);
            tensor = sketch.operator("CUSTOM", List.of(1, 4, 4, 4), tensor);
        }
        return PieceGraph.of(sketch.output(tensor).build(), sets, 1);
    }

    @Test
    void best_ofFewUnits_isTheBestOfAll() {
        Unions unions = new Unions(chain(5));

        List<Union> best = unions.best(32, union -> Math.abs(union.pieces().hashCode() - 7));

        assertEquals(32, best.size());
        assertEquals(7, best.get(0).pieces().hashCode());
        assertEquals(best.get(0).pieces().size(), best.get(0).kernels());
    }

    @Test
    void best_ofManyUnits_findsTheBestOfNeighbourlyCosts() {
        Random random = new Random(1);
        double[] gain = random.doubles(30, -1, 1).toArray();
        Set<Integer> wanted = new HashSet<>();
        for (int piece = 0; piece < gain.length; piece++) {
            if (gain[piece] > 0.1) {
                wanted.add(piece);
            }
        }

        List<Union> best =
                new Unions(chain(30))
                        .best(
                                3,
                                union ->
                                        union.kernels() * 0.1
                                                - union.pieces().stream()
                                                        .mapToDouble(piece -> gain[piece])
                                                        .sum());

        assertEquals(wanted, best.get(0).pieces());
        assertEquals(3, best.size());
        assertEquals(1, Sets.symmetricDifference(wanted, best.get(1).pieces()).size());
    }

    private static Contender contender(int kernels, long bytes) {
        ImmutableSortedSet<Integer> operators =
                kernels == 0 ? ImmutableSortedSet.of() : ImmutableSortedSet.of(kernels);
        return new Contender(new Candidate(operators, 1), kernels, bytes);
    }

    private static Preference preference(Objective objective, OptionalLong limit) {
        return new Preference(new Goal(objective, limit));
    }

    @Test
    void eligible_withLimit_isWhatKeepsToIt() {
        Contender small = contender(0, 10 * MB);
        Contender large = contender(1, 30 * MB);
        Preference limited = preference(Objective.LATENCY, OptionalLong.of(20 * MB));

        assertEquals(List.of(small), limited.eligible(List.of(small, large)));
    }

    @Test
    void eligible_forMemory_isWhatTakesAsLittleAsTheLeast() {
        Contender least = contender(0, 10 * MB);
        Contender asLittle = contender(1, 10 * MB + 200_000);
        Contender more = contender(2, 11 * MB);
        Preference memory = preference(Objective.MEMORY, OptionalLong.empty());

        assertEquals(List.of(least, asLittle), memory.eligible(List.of(least, asLittle, more)));
    }

    @Test
    void predicted_byObjective_ordersAsWanted() {
        Preference latency = preference(Objective.LATENCY, OptionalLong.empty());
        Preference memory = preference(Objective.MEMORY, OptionalLong.empty());
        Preference balanced = preference(Objective.BALANCED, OptionalLong.empty());
        Preference limited = preference(Objective.LATENCY, OptionalLong.of(20 * MB));

        assertAll(
                () -> assertTrue(latency.predicted(1e6, 9, 1) < latency.predicted(1e6, 9, 2)),
                () -> assertTrue(latency.predicted(9e5, 9, 9) < latency.predicted(1e6, 9, 1)),
                () -> assertTrue(memory.predicted(9e6, MB, 3) < memory.predicted(1e6, 2 * MB, 1)),
                () -> assertTrue(memory.predicted(1e6, MB, 1) < memory.predicted(9e6, MB, 1)),
                () ->
                        assertTrue(
                                balanced.predicted(3e6, MB, 1)
                                        < balanced.predicted(2e6, 2 * MB, 1)),
                () ->
                        assertTrue(
                                limited.predicted(9e9, 20 * MB, 5)
                                        < limited.predicted(1, 21 * MB, 1)));
    }

    @Test
    void hopeless_farFromTheBest_onlyWhereMemoryIsNotAskedFor() {
        assertTrue(preference(Objective.LATENCY, OptionalLong.empty()).hopeless(1.2, 1));
        assertFalse(preference(Objective.LATENCY, OptionalLong.empty()).hopeless(1.05, 1));
        assertFalse(preference(Objective.LATENCY, OptionalLong.of(1)).hopeless(1.2, 1));
    }

    @Test
    void simplest_byPartitionsThenThreadsThenOperators() {
        Contender one = new Contender(new Candidate(ImmutableSortedSet.of(1), 1), 1, 0);
        Contender onLarge = new Contender(new Candidate(ImmutableSortedSet.of(1, 2), 1), 1, 0);
        Contender onTwo = new Contender(new Candidate(ImmutableSortedSet.of(1), 2), 1, 0);
        Contender onMany = new Contender(new Candidate(ImmutableSortedSet.of(1), -1), 1, 0);
        Contender cpu = new Contender(Candidate.cpu(-1), 0, 0);

        List<Contender> sorted = new ArrayList<>(List.of(onMany, onTwo, onLarge, cpu, one));
        sorted.sort(Contender.SIMPLEST);

        assertEquals(List.of(cpu, one, onLarge, onTwo, onMany), sorted);
    }

    @Test
    void firstN_takesThoseWithMostNodes() {
        List<Set<Integer>> partitions = List.of(Set.of(0), Set.of(2, 3, 4), Set.of(6, 7));

        assertEquals(Set.of(2, 3, 4), FirstN.operators(partitions, 1));
        assertEquals(Set.of(2, 3, 4, 6, 7), FirstN.operators(partitions, 2));
        assertEquals(Set.of(0, 2, 3, 4, 6, 7), FirstN.operators(partitions, 0));
    }

    @Test
    void front_isWhatIsNotBeatenInBoth() {
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
                contender(kernels, bytes).candidate(),
                kernels,
                new Latency(nanos, nanos, nanos, 1),
                bytes,
                List.of());
    }
}
