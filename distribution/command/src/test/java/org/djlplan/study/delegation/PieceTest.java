package org.djlplan.study.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Set;
import org.djlplan.delegation.internal.partition.Units;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.testing.GraphSketch;
import org.junit.jupiter.api.Test;

class PieceTest {

    /** Bytes of a float tensor of 32 by 32 pixels with one channel. */
    private static final long PLANE = 32 * 32 * 4;

    /** Four convolutions of 16, 32, 4, 32 and 16 channels. */
    private static Graph hourglass() {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 32, 32, 16);
        for (int channels : List.of(32, 4, 32, 16)) {
            tensor = sketch.conv(tensor, channels, 5);
        }
        return sketch.output(tensor).build();
    }

    private static List<Piece> pieces(Graph graph, List<Set<Integer>> partitions) {
        return Piece.of(graph, Units.of(graph, partitions));
    }

    @Test
    void of_partitionsWithTheCpuBetween_countsTheTensorsOnEitherSide() {
        List<Piece> pieces = pieces(hourglass(), List.of(Set.of(0, 1), Set.of(3)));

        assertEquals(
                List.of((16 + 4) * PLANE, (32 + 16) * PLANE),
                pieces.stream().map(Piece::crossingBytes).toList());
        assertEquals(25 * 4L * (16 * 32 + 32 * 4), pieces.get(0).weightBytes());
        assertEquals(32 * 32 * 2 * 25L * (16 * 32 + 32 * 4), pieces.get(0).flops());
    }

    @Test
    void of_tensorFromOnePartitionToAnother_countsOnBothSides() {
        GraphSketch sketch = new GraphSketch();
        List<Integer> shape = List.of(1, 4, 4, 1);
        int first = sketch.operator("CONV_2D", shape, sketch.input(1, 4, 4, 1));
        int middle = sketch.operator("CUSTOM:x", shape, first);
        int last = sketch.operator("ADD", shape, first, middle);
        Graph graph = sketch.output(last).build();

        assertEquals(
                List.of((1 + 1) * 64L, (2 + 1) * 64L),
                pieces(graph, List.of(Set.of(0), Set.of(2))).stream()
                        .map(Piece::crossingBytes)
                        .toList());
    }

    @Test
    void of_unpackedWeights_countsThemOnce() {
        GraphSketch sketch = new GraphSketch();
        int filter = sketch.halfWeights(4, 3, 3, 4);
        List<Integer> shape = List.of(1, 8, 8, 4);
        int first = sketch.operator("CONV_2D", shape, sketch.input(1, 8, 8, 4), filter);
        int second = sketch.operator("CONV_2D", shape, first, filter);
        Graph graph = sketch.output(second).build();

        Piece piece = pieces(graph, List.of(Set.of(0, 1, 2))).get(0);
        assertEquals(Set.of(1, 2), piece.operators());
        assertEquals(4 * 3 * 3 * 4 * 4, piece.weightBytes());
        assertEquals(2 * 8 * 8 * 4 * 4, piece.crossingBytes());
    }
}
