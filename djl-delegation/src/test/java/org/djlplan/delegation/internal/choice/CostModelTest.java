package org.djlplan.delegation.internal.choice;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.djlplan.delegation.internal.choice.CostModel.Union;
import org.djlplan.delegation.internal.partition.PieceGraph;
import org.djlplan.delegation.internal.partition.PieceGraph.Piece;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.junit.jupiter.api.Test;

/**
 * Tests latencies on a graph with the pieces {1} and {3, 4}, whose operators 0, 2 and 5 always run
 * on the CPU. Tests memory on graphs whose pieces are one operator each.
 */
class CostModelTest {

    private static final List<Piece> UNITS = List.of(piece(0, 1), piece(1, 3, 4));

    private static final List<NodeTime> CPU =
            List.of(cpu(0, 1), cpu(1, 100), cpu(2, 2), cpu(3, 30), cpu(4, 60), cpu(5, 4));

    private static final List<NodeTime> ALL =
            List.of(cpu(0, 1), delegate(40, 1), cpu(2, 6), delegate(20, 3, 4), cpu(5, 5));

    private static final long MB = 1 << 20;

    private static Piece piece(int partition, Integer... operators) {
        return new Piece(ImmutableSortedSet.copyOf(operators), partition, 0, 0, 0);
    }

    private static NodeTime cpu(int operator, long nanos) {
        return new NodeTime(ImmutableSortedSet.of(operator), false, nanos);
    }

    private static NodeTime delegate(long nanos, Integer... operators) {
        return new NodeTime(ImmutableSortedSet.copyOf(operators), true, nanos);
    }

    @Test
    void nanos_ofWhatWasMeasured_isWhatWasMeasured() {
        CostModel model = new CostModel(UNITS, CPU, ALL, 0);

        assertEquals(197, model.nanos(Set.of()), 1e-9);
        assertEquals(72, model.nanos(Set.of(0, 1)), 1e-9);
    }

    @Test
    void nanos_ofOtherUnions_isTheSumOfTheirSides() {
        CostModel model = new CostModel(UNITS, CPU, ALL, 0);

        assertEquals(1 + 40 + 6 + 90 + 4, model.nanos(Set.of(0)), 1e-9);
        assertEquals(1 + 100 + 2 + 20 + 5, model.nanos(Set.of(1)), 1e-9);
    }

    @Test
    void nanos_mixedNeighboursMeasured_equalsMeasurement() {
        CostModel model = new CostModel(UNITS, CPU, ALL, 0);
        model.learn(
                Set.of(0),
                List.of(cpu(0, 1), delegate(40, 1), cpu(2, 6), cpu(3, 50), cpu(4, 70), cpu(5, 4)));

        assertEquals(171, model.nanos(Set.of(0)), 1e-9);
        assertEquals(197, model.nanos(Set.of()), 1e-9);
    }

    @Test
    void nanos_kernelOfSeveralUnits_isSharedByTheirTimesOnTheCpu() {
        List<Piece> pieces = List.of(piece(0, 1), piece(1, 3), piece(1, 4));

        CostModel model = new CostModel(pieces, CPU, ALL, 0);

        assertEquals(20.0 * 31 / 92, model.delegateNanos(1), 1e-9);
        assertEquals(20.0 * 61 / 92, model.delegateNanos(2), 1e-9);
        assertEquals(60, model.cpuNanos(2), 1e-9);
    }

    private static Piece heavy(int operator, long weightBytes) {
        return new Piece(ImmutableSortedSet.of(operator), operator, 0, weightBytes, 0);
    }

    @Test
    void bytes_ofMeasuredUnions_agrees() {
        List<Piece> pieces = List.of(heavy(0, 10 * MB), heavy(1, 20 * MB), heavy(2, 70 * MB));
        CostModel memory = new CostModel(pieces, List.of(), List.of(), 5 * MB);

        memory.learn(Set.of(0, 1, 2), 3, 205 * MB);
        memory.learn(Set.of(0, 2), 2, 160 * MB);

        assertAll(
                () -> assertEquals(205 * MB, memory.bytes(Set.of(0, 1, 2), 3), MB),
                () -> assertEquals(160 * MB, memory.bytes(Set.of(0, 2), 2), MB),
                () -> assertEquals(5 * MB, memory.bytes(Set.of(), 0), 1),
                // The piece with most weights got most of it.
                () -> assertTrue(memory.bytes(Set.of(2), 1) > 2 * memory.bytes(Set.of(0), 1)));
    }

    @Test
    void bytes_smallerWhenDelegated_isNotBelowNothing() {
        CostModel memory = new CostModel(List.of(heavy(0, MB)), List.of(), List.of(), 5 * MB);

        memory.learn(Set.of(0), 1, 0);

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
    void best_ofFewPieces_isTheBestOfAll() {
        List<Union> best =
                CostModel.best(chain(5), 32, union -> Math.abs(union.pieces().hashCode() - 7));

        assertEquals(32, best.size());
        assertEquals(7, best.get(0).pieces().hashCode());
        assertEquals(best.get(0).pieces().size(), best.get(0).kernels());
    }

    @Test
    void best_ofManyPieces_findsTheBestOfNeighbourlyCosts() {
        Random random = new Random(1);
        double[] gain = random.doubles(30, -1, 1).toArray();
        Set<Integer> wanted = new HashSet<>();
        for (int piece = 0; piece < gain.length; piece++) {
            if (gain[piece] > 0.1) {
                wanted.add(piece);
            }
        }

        List<Union> best =
                CostModel.best(
                        chain(30),
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
}
