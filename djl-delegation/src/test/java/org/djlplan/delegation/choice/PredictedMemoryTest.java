package org.djlplan.delegation.choice;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.delegation.partition.Dataflow;
import org.djlplan.delegation.partition.DelegatedGraph;
import org.djlplan.delegation.partition.GraphSketch;
import org.djlplan.memplan.graph.Graph;
import org.junit.jupiter.api.Test;

class PredictedMemoryTest {

    /** Bytes of one channel of 8 by 8 pixels. */
    private static final long PLANE = 8 * 8 * 4;

    private static long bytes(Graph graph, int... operators) {
        BitSet delegated = new BitSet();
        IntStream.of(operators).forEach(delegated::set);
        Dataflow flow = Dataflow.of(graph);
        return new PredictedMemory(flow).bytes(new DelegatedGraph(flow, delegated));
    }

    /** Three additions, of 1, 2, 8 and 1 channels. */
    private static Graph chain() {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 8, 8, 1);
        for (int channels : List.of(2, 8, 1)) {
            tensor = sketch.operator("ADD", List.of(1, 8, 8, channels), tensor);
        }
        return sketch.output(tensor).build();
    }

    @Test
    void bytes_onTheCpu_areTheMaximumBreadth() {
        assertEquals((2 + 8) * PLANE, bytes(chain()));
    }

    @Test
    void bytes_ofOneKernel_areItsWorkspaceAndWhatCrosses() {
        assertEquals((2 + 8 + 1 + 1) * PLANE, bytes(chain(), 0, 1, 2));
        // The kernel has 2 channels inside; 1 goes in and 8 come out; then 8 and 1.
        assertEquals((2 + 8 + 1) * PLANE, bytes(chain(), 0, 1));
    }

    @Test
    void bytes_ofConvolutions_areColumnsOnTheCpuAndWeightsInTheDelegate() {
        GraphSketch sketch = new GraphSketch();
        Graph graph = sketch.output(sketch.conv(sketch.input(1, 8, 8, 2), 4, 3)).build();
        assertEquals((2 + 4) * PLANE + 8 * 8 * 9 * 2 * 4, bytes(graph));
        long indirection = 8 * 8 * 9 * 8;
        assertEquals((2 + 4) * PLANE + 4 * 9 * 2 * 4 + indirection, bytes(graph, 0));
    }

    @Test
    void bytes_ofWeightsOf16Bits_areUnpackedAndMayBePackedAgain() {
        GraphSketch sketch = new GraphSketch();
        int filter = sketch.halfWeights(4, 1, 1, 2);
        int made =
                sketch.operator("CONV_2D", List.of(1, 8, 8, 4), sketch.input(1, 8, 8, 2), filter);
        Graph graph = sketch.output(made).build();
        long crossing = (2 + 4) * PLANE;
        long weights = 4 * 2 * 4;
        assertEquals(crossing + weights, bytes(graph));
        assertEquals(crossing + 2 * weights, bytes(graph, 0, 1));
        assertEquals(crossing + 2 * weights, bytes(graph, 1));
    }

    @Test
    void bytes_ofTensorsThatNothingTouches_areNone() {
        GraphSketch sketch = new GraphSketch();
        sketch.input(1, 8, 8, 50);
        int made = sketch.operator("ADD", List.of(1, 8, 8, 1), sketch.input(1, 8, 8, 1));
        assertEquals(2 * PLANE, bytes(sketch.output(made).build()));
    }
}
