package org.djlplan.delegation.internal.choice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Set;
import org.djlplan.delegation.internal.choice.LatencyModel.Run;
import org.djlplan.delegation.internal.partition.PieceGraph.Piece;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

/**
 * Tests the latency model on a graph with the pieces {1} and {3, 4}; operators 0, 2 and 5 always
 * run on the CPU.
 */
class LatencyModelTest {

    private static final List<Piece> UNITS = List.of(piece(0, 1), piece(1, 3, 4));

    private static final Run CPU =
            new Run(
                    Set.of(),
                    List.of(cpu(0, 1), cpu(1, 100), cpu(2, 2), cpu(3, 30), cpu(4, 60), cpu(5, 4)));

    private static final Run ALL =
            new Run(
                    Set.of(0, 1),
                    List.of(cpu(0, 1), delegate(40, 1), cpu(2, 6), delegate(20, 3, 4), cpu(5, 5)));

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
        LatencyModel model = new LatencyModel(UNITS, List.of(CPU, ALL));

        assertEquals(197, model.nanos(Set.of()), 1e-9);
        assertEquals(72, model.nanos(Set.of(0, 1)), 1e-9);
    }

    @Test
    void nanos_ofOtherUnions_isTheSumOfTheirSides() {
        LatencyModel model = new LatencyModel(UNITS, List.of(CPU, ALL));

        assertEquals(1 + 40 + 6 + 90 + 4, model.nanos(Set.of(0)), 1e-9);
        assertEquals(1 + 100 + 2 + 20 + 5, model.nanos(Set.of(1)), 1e-9);
    }

    @Test
    void nanos_mixedNeighboursMeasured_equalsMeasurement() {
        Run first =
                new Run(
                        Set.of(0),
                        List.of(
                                cpu(0, 1),
                                delegate(40, 1),
                                cpu(2, 6),
                                cpu(3, 50),
                                cpu(4, 70),
                                cpu(5, 4)));

        LatencyModel model = new LatencyModel(UNITS, List.of(CPU, ALL, first));

        assertEquals(171, model.nanos(Set.of(0)), 1e-9);
        assertEquals(197, model.nanos(Set.of()), 1e-9);
    }

    @Test
    void nanos_kernelOfSeveralUnits_isSharedByTheirTimesOnTheCpu() {
        List<Piece> pieces = List.of(piece(0, 1), piece(1, 3), piece(1, 4));

        LatencyModel model = new LatencyModel(pieces, List.of(CPU, all(pieces)));

        assertEquals(20.0 * 31 / 92, model.delegateNanos(1), 1e-9);
        assertEquals(20.0 * 61 / 92, model.delegateNanos(2), 1e-9);
        assertEquals(60, model.cpuNanos(2), 1e-9);
    }

    private static Run all(List<Piece> pieces) {
        return new Run(pieces.size() == 3 ? Set.of(0, 1, 2) : Set.of(0, 1), ALL.nodes());
    }

    @Test
    void of_withoutRunOnTheCpu_isRefused() {
        assertThrows(IllegalArgumentException.class, () -> new LatencyModel(UNITS, List.of(ALL)));
    }
}
