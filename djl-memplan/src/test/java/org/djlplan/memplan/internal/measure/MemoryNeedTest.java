package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.FileRegion;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.junit.jupiter.api.Test;

class MemoryNeedTest {

    private static final long MIB = 1 << 20;

    private static Tensor tensor(int id, ElementType type, long bytes, Storage storage) {
        return new Tensor(id, "t" + id, type, List.of(), bytes, storage, Optional.empty());
    }

    /** Returns a graph with half-precision weights, one input, one intermediate and one output. */
    private static Graph graph(long weightBytes, long endBytes, long innerBytes) {
        return new Graph(
                "net",
                List.of(
                        new Operator(0, "CONV_2D", List.of(0, 1), List.of(2), List.of()),
                        new Operator(1, "ABS", List.of(2), List.of(3), List.of())),
                List.of(
                        tensor(0, ElementType.FLOAT32, endBytes, Storage.INTERMEDIATE),
                        tensor(1, ElementType.FLOAT16, weightBytes, Storage.CONSTANT),
                        tensor(2, ElementType.FLOAT32, innerBytes, Storage.INTERMEDIATE),
                        tensor(3, ElementType.FLOAT32, endBytes, Storage.INTERMEDIATE)),
                List.of(0),
                List.of(3));
    }

    @Test
    void of_halves_countAsFloats() {
        MemoryNeed need = MemoryNeed.of(graph(20 * MIB, MIB, 3 * MIB), 1);
        assertEquals(40 * MIB + 2 * 4 * MIB, need.candidateBytes());
        assertEquals(48 * MIB + 32 * 2 * MIB, need.heapBytes());
        assertEquals(80 * MIB + need.heapBytes() + 3 * need.candidateBytes(), need.bytes());
    }

    private static MemoryNeed ofWeights(Tensor weights) {
        Graph halves = graph(20 * MIB, MIB, 3 * MIB);
        List<Tensor> tensors = new ArrayList<>(halves.tensors());
        tensors.set(1, weights);
        return MemoryNeed.of(
                new Graph("net", halves.operators(), tensors, List.of(0), List.of(3)), 1);
    }

    /** All tensors' values are compared: the computed ones, and copies of them. */
    @Test
    void of_weightsOfEightBits_hasRoomForAllTensors() {
        MemoryNeed need = ofWeights(tensor(1, ElementType.INT8, 20 * MIB, Storage.CONSTANT));
        assertEquals(48 * MIB + 32 * 2 * MIB + 4 * 4 * MIB, need.heapBytes());
        assertEquals(20 * MIB + 8 * MIB, need.candidateBytes());
    }

    @Test
    void of_largerInputs_weightsStayAsTheyAre() {
        MemoryNeed need = MemoryNeed.of(graph(20 * MIB, MIB, 3 * MIB), 3);
        assertEquals(40 * MIB + 3 * 2 * 4 * MIB, need.candidateBytes());
        assertEquals(48 * MIB + 3 * 32 * 2 * MIB, need.heapBytes());
    }

    /** In the file, a byte holds two weights. */
    @Test
    void of_weightsOfFourBits_countAsBytes() {
        MemoryNeed need =
                ofWeights(
                        new Tensor(
                                1,
                                "t1",
                                ElementType.INT4,
                                List.of(),
                                0,
                                Storage.CONSTANT,
                                Optional.of(new FileRegion(0, 10 * MIB))));
        assertEquals(20 * MIB + 8 * MIB, need.candidateBytes());
    }

    @Test
    void of_smallModel_isTheProcessItself() {
        assertEquals(new MemoryNeed(48 * MIB, 0), MemoryNeed.of(graph(0, 0, 0), 1));
    }

    @Test
    void of_largeInputs_leavesTheHeapBounded() {
        assertEquals(512 * MIB, MemoryNeed.of(graph(MIB, 100 * MIB, MIB), 1).heapBytes());
    }
}
