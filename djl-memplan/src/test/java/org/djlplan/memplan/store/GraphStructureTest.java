package org.djlplan.memplan.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.testing.GraphSketch;
import org.junit.jupiter.api.Test;

class GraphStructureTest {

    private static Graph graph(String type, ElementType element, int size, boolean temporary) {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(4);
        int x = sketch.tensor(element, Storage.INTERMEDIATE, size);
        int scratch = sketch.tensor(4);
        int output = sketch.tensor(4);
        return sketch.operator(
                        type, List.of(input), List.of(x), temporary ? List.of(scratch) : List.of())
                .operator("TANH", output, x)
                .output(output)
                .build();
    }

    @Test
    void hash_anyDifferenceThatMatters_isAnotherHash() {
        Set<String> hashes = new HashSet<>();
        for (Graph graph :
                List.of(
                        graph("RELU", ElementType.FLOAT32, 4, false),
                        graph("ABS", ElementType.FLOAT32, 4, false),
                        graph("RELU", ElementType.INT32, 4, false),
                        graph("RELU", ElementType.FLOAT32, 5, false),
                        graph("RELU", ElementType.FLOAT32, 4, true))) {
            assertTrue(hashes.add(GraphStructure.hash(graph)));
        }
    }

    @Test
    void hash_otherNames_isTheSame() {
        Graph graph = graph("RELU", ElementType.FLOAT32, 4, false);
        Graph renamed =
                new Graph(
                        "other",
                        graph.operators(),
                        graph.tensors(),
                        graph.inputs(),
                        graph.outputs());
        assertEquals(GraphStructure.hash(graph), GraphStructure.hash(renamed));
        assertTrue(GraphStructure.hash(graph).matches("[0-9a-f]{64}"));
    }
}
