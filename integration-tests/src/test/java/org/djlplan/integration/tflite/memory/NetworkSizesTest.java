package org.djlplan.integration.tflite.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.integration.networks.MobileNetV1;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that the MobileNets' intermediate tensors have the total size and the lower bound that
 * Pisarchyk and Lee 2020 state.
 */
class NetworkSizesTest {

    private static final int ALIGNMENT_BYTES = 64;

    /**
     * Returns MiB without the network's input and output: naive, and the lower bound of offset
     * calculation.
     */
    static List<Arguments> networks() {
        return List.of(
                Arguments.of("MobileNet v1", MobileNetV1.build(1), 19.248, 4.594),
                Arguments.of("MobileNet v2", MobileNetV2.build(1), 26.313, 5.742));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("networks")
    void intermediateTensors_takeAsManyBytesAsInThePaper(
            String name, TfLiteFile network, double naiveMebibytes, double boundMebibytes) {
        Graph graph = TfLiteGraphs.toGraph(network, name);
        long naiveBytes = 0;
        long[] breadthBytes = new long[graph.operators().size()];
        for (Tensor tensor : graph.tensors()) {
            if (isPlanned(graph, tensor)) {
                naiveBytes += tensor.bytes();
                long alignedBytes =
                        (tensor.bytes() + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
                int[] users = users(graph, tensor.id());
                for (int i = users[0]; i <= users[users.length - 1]; i++) {
                    breadthBytes[i] += alignedBytes;
                }
            }
        }
        assertEquals(naiveMebibytes, mebibytes(naiveBytes), 5e-4);
        assertEquals(
                boundMebibytes, mebibytes(Arrays.stream(breadthBytes).max().orElseThrow()), 5e-4);
    }

    private static boolean isPlanned(Graph graph, Tensor tensor) {
        return tensor.storage() == Storage.INTERMEDIATE
                && !graph.inputs().contains(tensor.id())
                && !graph.outputs().contains(tensor.id());
    }

    private static int[] users(Graph graph, int tensor) {
        return graph.operators().stream()
                .filter(
                        operator ->
                                operator.inputs().contains(tensor)
                                        || operator.outputs().contains(tensor))
                .mapToInt(Operator::index)
                .toArray();
    }

    private static double mebibytes(long bytes) {
        return bytes / (double) (1 << 20);
    }
}
