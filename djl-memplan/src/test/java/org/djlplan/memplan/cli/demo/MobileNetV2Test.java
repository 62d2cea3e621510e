package org.djlplan.memplan.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.google.common.collect.ImmutableSet;
import com.google.common.math.LongMath;
import java.math.RoundingMode;
import java.util.Arrays;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.junit.jupiter.api.Test;

class MobileNetV2Test {

    private final Graph graph = TfLiteGraphs.toGraph(MobileNetV2.build(1), "mobilenet_v2");

    /** Pisarchyk and Lee 2020, tables 1 and 2, MiB: naive 26.313, lower bound of offsets 5.742. */
    @Test
    void build_intermediateTensors_haveTheBoundsOfThePaper() {
        Set<Integer> callers =
                ImmutableSet.<Integer>builder()
                        .addAll(graph.inputs())
                        .addAll(graph.outputs())
                        .build();
        long naiveBytes = 0;
        long[] breadthBytes = new long[graph.operators().size()];
        for (Tensor tensor : graph.tensors()) {
            if (tensor.storage() == Storage.INTERMEDIATE && !callers.contains(tensor.id())) {
                naiveBytes += tensor.bytes();
                int[] users =
                        graph.operators().stream()
                                .filter(operator -> uses(operator, tensor))
                                .mapToInt(Operator::index)
                                .toArray();
                for (int i = users[0]; i <= users[users.length - 1]; i++) {
                    breadthBytes[i] += 64 * LongMath.divide(tensor.bytes(), 64, RoundingMode.UP);
                }
            }
        }
        assertEquals(26.313, mebibytes(naiveBytes), 5e-4);
        assertEquals(5.742, mebibytes(Arrays.stream(breadthBytes).max().orElseThrow()), 5e-4);
    }

    private static boolean uses(Operator operator, Tensor tensor) {
        return operator.inputs().contains(tensor.id()) || operator.outputs().contains(tensor.id());
    }

    private static double mebibytes(long bytes) {
        return bytes / (double) (1 << 20);
    }

    @Test
    void build_layers_areThoseOfThePaper() {
        assertEquals(36, count("CONV_2D"));
        assertEquals(17, count("DEPTHWISE_CONV_2D"));
        assertEquals(10, count("ADD"));
        assertEquals(66, graph.operators().size());
    }

    private long count(String type) {
        return graph.operators().stream().filter(operator -> operator.type().equals(type)).count();
    }

    @Test
    void build_sameSeed_givesEqualModels() {
        assertEquals(MobileNetV2.build(7), MobileNetV2.build(7));
        assertNotEquals(MobileNetV2.build(7), MobileNetV2.build(8));
    }
}
