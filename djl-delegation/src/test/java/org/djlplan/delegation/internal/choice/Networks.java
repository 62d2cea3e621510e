package org.djlplan.delegation.internal.choice;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.testing.GraphSketch;

/** Graphs with the structure of published networks. */
final class Networks {

    /** Height and width of the input, equal to those of a published network's first features. */
    private static final int SIZE = 112;

    private Networks() {}

    /**
     * Returns a network of separable convolutions like MobileNet's, for 112 by 112 pixels, with an
     * operator that no delegate supports after some blocks.
     *
     * @param unsupportedAfter indices of these blocks, from 0 to 7
     */
    static Graph mobileNet(Set<Integer> unsupportedAfter) {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.conv(sketch.input(1, SIZE, SIZE, 3), 32, 3);
        int channels = 32;
        int size = SIZE;
        for (int block = 0; block < 8; block++) {
            size = block % 2 == 1 ? size / 2 : size;
            tensor =
                    sketch.operator(
                            "DEPTHWISE_CONV_2D",
                            List.of(1, size, size, channels),
                            tensor,
                            sketch.weights(1, 3, 3, channels));
            channels = block % 2 == 1 ? channels * 2 : channels;
            tensor = sketch.conv(tensor, channels, 1);
            if (unsupportedAfter.contains(block)) {
                tensor = sketch.operator("CUSTOM:x", List.of(1, size, size, channels), tensor);
            }
        }
        int pooled = sketch.operator("MEAN", List.of(1, channels), tensor);
        int scores =
                sketch.operator(
                        "FULLY_CONNECTED",
                        List.of(1, 1000),
                        pooled,
                        sketch.weights(1000, channels));
        return sketch.output(sketch.operator("SOFTMAX", List.of(1, 1000), scores)).build();
    }

    /** Returns the partitions of such a network: sets of all operators that a delegate takes. */
    static List<Set<Integer>> partitions(Graph graph) {
        BitSet custom = new BitSet();
        graph.operators().stream()
                .filter(operator -> operator.type().startsWith("CUSTOM"))
                .forEach(operator -> custom.set(operator.index()));
        int count = graph.operators().size();
        return IntStream.range(0, count)
                .filter(i -> !custom.get(i))
                .boxed()
                .collect(Collectors.groupingBy(i -> custom.get(0, i).cardinality()))
                .entrySet()
                .stream()
                .sorted(Map.Entry.comparingByKey())
                .map(entry -> Set.copyOf(entry.getValue()))
                .collect(Collectors.toList());
    }
}
