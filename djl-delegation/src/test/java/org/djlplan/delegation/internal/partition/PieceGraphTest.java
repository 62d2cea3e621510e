package org.djlplan.delegation.internal.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.djlplan.delegation.internal.partition.PieceGraph.Piece;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.DiscreteDomain;
import org.djlplan.thirdparty.guava.collect.Range;
import org.junit.jupiter.api.Test;

class PieceGraphTest {

    /** Bytes of a float tensor of 32 by 32 pixels with one channel. */
    private static final long PLANE = 32 * 32 * 4;

    /** Four convolutions; the second one's output has the fewest channels. */
    private static Graph hourglass() {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 32, 32, 16);
        for (int channels : List.of(32, 4, 32, 16)) {
            tensor = sketch.conv(tensor, channels, 5);
        }
        return sketch.output(tensor).build();
    }

    private static Set<Integer> range(int first, int last) {
        return ContiguousSet.create(Range.closed(first, last), DiscreteDomain.integers());
    }

    @Test
    void units_ofOnePartition_areCutWhereFewestBytesCross() {
        List<Piece> pieces = PieceGraph.of(hourglass(), List.of(range(0, 3)), 2).pieces();
        assertEquals(
                List.of(range(0, 1), range(2, 3)), pieces.stream().map(Piece::operators).toList());
        assertEquals(List.of(0, 0), pieces.stream().map(Piece::partition).toList());
        assertEquals(
                List.of((16 + 4) * PLANE, (4 + 16) * PLANE),
                pieces.stream().map(Piece::crossingBytes).toList());
        assertEquals(25 * 4L * (16 * 32 + 32 * 4), pieces.get(0).weightBytes());
        assertEquals(32 * 32 * 2 * 25L * (16 * 32 + 32 * 4), pieces.get(0).flops());
    }

    @Test
    void units_whenNoCutIsAskedFor_areThePartitions() {
        List<Set<Integer>> partitions = List.of(range(0, 1), range(3, 3));
        for (int most : new int[] {0, 1, 2}) {
            assertEquals(
                    partitions,
                    PieceGraph.of(hourglass(), partitions, most).pieces().stream()
                            .map(Piece::operators)
                            .toList());
        }
    }

    @Test
    void units_ofLittleWork_stayWhole() {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 8, 8, 4);
        for (int i = 0; i < 6; i++) {
            tensor = sketch.conv(tensor, 4, 3);
        }
        PieceGraph pieces = PieceGraph.of(sketch.output(tensor).build(), List.of(range(0, 5)), 6);
        assertEquals(1, pieces.pieces().size());
    }

    @Test
    void crossingBytes_ofPartitionsWithTheCpuBetween_countTheTensorsOnEitherSide() {
        List<Set<Integer>> partitions = List.of(range(0, 1), range(3, 3));
        assertEquals(
                List.of((16 + 4) * PLANE, (32 + 16) * PLANE),
                PieceGraph.of(hourglass(), partitions, 0).pieces().stream()
                        .map(Piece::crossingBytes)
                        .toList());
    }

    @Test
    void runs_ofNeighboursInOnePartition_isOne() {
        PieceGraph pieces = PieceGraph.of(hourglass(), List.of(range(0, 3)), 2);
        assertEquals(1, pieces.kernels(Set.of(0, 1)));
        assertEquals(1, pieces.kernels(Set.of(1)));
        assertEquals(0, pieces.kernels(Set.of()));
        assertTrue(pieces.operators(Set.of()).isEmpty());
    }

    @Test
    void runs_withTheCpuBetween_countsBoth() {
        PieceGraph pieces = PieceGraph.of(hourglass(), List.of(range(0, 1), range(3, 3)), 0);
        assertEquals(2, pieces.kernels(Set.of(0, 1)));
    }

    @Test
    void operators_whenOtherOperatorsReadUnpackedWeights_leaveTheUnpackingToTheCpu() {
        GraphSketch sketch = new GraphSketch();
        int own = sketch.halfWeights(4, 3, 3, 4);
        int shared = sketch.halfWeights(4, 3, 3, 4);
        List<Integer> shape = List.of(1, 8, 8, 4);
        int first = sketch.operator("CONV_2D", shape, sketch.input(1, 8, 8, 4), own);
        int split = sketch.operator("SPLIT_V", shape, first);
        int second = sketch.operator("CONV_2D", shape, split, shared);
        int last = sketch.operator("ADD", shape, second, shared);
        PieceGraph pieces =
                PieceGraph.of(
                        sketch.output(last).build(), List.of(Set.of(0, 1, 2), Set.of(4, 5)), 0);
        assertEquals(Set.of(0, 2), pieces.operators(Set.of(0)));
        assertEquals(Set.of(1, 4, 5), pieces.operators(Set.of(1)));
        assertEquals(Set.of(0, 1, 2, 4, 5), pieces.operators(Set.of(0, 1)));
        assertEquals(4 * 3 * 3 * 4 * 4, pieces.pieces().get(0).weightBytes());
    }

    @Test
    void operators_ofWeightsUnpackedTwice_haveBothSteps() {
        GraphSketch sketch = new GraphSketch();
        int sparse = sketch.weights(4, 3, 3, 4);
        int dense = sketch.operator("DENSIFY", List.of(4, 3, 3, 4), sparse);
        int filter = sketch.operator("DEQUANTIZE", List.of(4, 3, 3, 4), dense);
        int input = sketch.input(1, 8, 8, 4);
        int result = sketch.operator("CONV_2D", List.of(1, 8, 8, 4), input, filter);
        PieceGraph pieces =
                PieceGraph.of(sketch.output(result).build(), List.of(Set.of(0, 1, 2)), 0);
        assertEquals(Set.of(2), pieces.pieces().get(0).operators());
        assertEquals(Set.of(0, 1, 2), pieces.operators(Set.of(0)));
    }

    @Test
    void units_ofAPartitionOfUnpackingOnly_areNone() {
        GraphSketch sketch = new GraphSketch();
        int filter = sketch.halfWeights(4, 3, 3, 4);
        int input = sketch.input(1, 8, 8, 4);
        int result = sketch.operator("CUSTOM:x", List.of(1, 8, 8, 4), input, filter);
        PieceGraph pieces = PieceGraph.of(sketch.output(result).build(), List.of(Set.of(0)), 4);
        assertTrue(pieces.pieces().isEmpty());
        assertTrue(pieces.operators(Set.of()).isEmpty());
    }

    @Test
    void of_operatorsOutsideTheGraph_throws() {
        assertThrows(
                IllegalArgumentException.class,
                () -> PieceGraph.of(hourglass(), List.of(range(0, 2), range(2, 3)), 0));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> PieceGraph.of(hourglass(), List.of(range(0, 4)), 0));
        PieceGraph pieces = PieceGraph.of(hourglass(), List.of(range(0, 3)), 0);
        assertThrows(IndexOutOfBoundsException.class, () -> pieces.operators(Set.of(1)));
    }
}
