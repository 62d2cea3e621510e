package org.djlplan.study.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.function.Function;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.testing.GraphSketch;
import org.junit.jupiter.api.Test;

class FlopsTest {

    private static long flops(Function<GraphSketch, Integer> operator) {
        GraphSketch sketch = new GraphSketch();
        Graph graph = sketch.output(operator.apply(sketch)).build();
        return Flops.of(graph, graph.operators().get(0));
    }

    private static long flops(String type, List<Integer> output, Integer[]... inputs) {
        return flops(
                sketch -> {
                    Integer[] ids = new Integer[inputs.length];
                    for (int i = 0; i < ids.length; i++) {
                        ids[i] =
                                sketch.tensor(ElementType.FLOAT32, Storage.INTERMEDIATE, inputs[i]);
                    }
                    return sketch.operator(type, output, ids);
                });
    }

    private static Integer[] shape(Integer... dimensions) {
        return dimensions;
    }

    @Test
    void of_convolution_isTwoPerOutputAndWeightOfItsChannel() {
        // The first convolution of ResNet: 118 million multiplications.
        assertEquals(
                2L * 112 * 112 * 64 * 7 * 7 * 3,
                flops(
                        "CONV_2D",
                        List.of(1, 112, 112, 64),
                        shape(1, 224, 224, 3),
                        shape(64, 7, 7, 3)));
    }

    @Test
    void of_depthwiseConvolution_isTwoPerOutputAndTap() {
        assertEquals(
                2L * 56 * 56 * 128 * 9,
                flops(
                        "DEPTHWISE_CONV_2D",
                        List.of(1, 56, 56, 128),
                        shape(1, 112, 112, 128),
                        shape(1, 3, 3, 128)));
    }

    @Test
    void of_transposedConvolution_isTwoPerInputAndWeightOfItsChannel() {
        assertEquals(
                2L * 8 * 8 * 16 * 4 * 2 * 2,
                flops(
                        "TRANSPOSE_CONV",
                        List.of(1, 16, 16, 4),
                        shape(4),
                        shape(4, 2, 2, 16),
                        shape(1, 8, 8, 16)));
    }

    @Test
    void of_fullyConnected_isTwoPerWeightAndBatch() {
        assertEquals(
                2L * 3 * 10 * 512,
                flops("FULLY_CONNECTED", List.of(3, 10), shape(3, 512), shape(10, 512)));
    }

    @Test
    void of_matrixProduct_isTheSameWhicheverWayTheFactorsLie() {
        long expected = 2L * 6 * 5 * 7 * 11;
        assertEquals(
                expected,
                flops("BATCH_MATMUL", List.of(6, 5, 7), shape(6, 5, 11), shape(6, 11, 7)));
        assertEquals(
                expected,
                flops("BATCH_MATMUL", List.of(6, 5, 7), shape(6, 11, 5), shape(6, 11, 7)));
    }

    @Test
    void of_poolAndReduction_isOnePerInput() {
        assertEquals(8 * 8 * 3, flops("MAX_POOL_2D", List.of(1, 4, 4, 3), shape(1, 8, 8, 3)));
        assertEquals(8 * 8 * 3, flops("MEAN", List.of(1, 3), shape(1, 8, 8, 3), shape(2)));
    }

    @Test
    void of_otherOperators_isOnePerOutput() {
        assertEquals(30, flops("ADD", List.of(5, 6), shape(5, 6), shape(6)));
        assertEquals(30, flops("CUSTOM:thing", List.of(30)));
        assertEquals(0, flops("RESHAPE", List.of(30), shape(5, 6)));
    }

    @Test
    void of_unknownOrOddShapes_isZero() {
        assertEquals(0, flops("ADD", List.of(-1, 6), shape(5, 6)));
        assertEquals(0, flops("CONV_2D", List.of(1, 4, 4, 2), shape(1, 4, 4, 2)));
        assertEquals(0, flops("CONV_2D", List.of(1, 4, 4, 2), shape(1, 4, 4, 2), shape()));
        assertEquals(
                0, flops("CONV_2D", List.of(1, -1, 4, 2), shape(1, 4, 4, 2), shape(2, 1, 1, 2)));
        assertEquals(0, flops("TRANSPOSE_CONV", List.of(1, 4, 4, 2), shape(4), shape(2, 2, 2, -1)));
        assertEquals(0, flops("BATCH_MATMUL", List.of(4), shape(4), shape(4)));
    }

    @Test
    void of_shapesNoOperatorHas_staysWithinALong() {
        GraphSketch sketch = new GraphSketch();
        int most = Integer.MAX_VALUE;
        // The type has no size, because a size in bytes would not fit.
        int huge = sketch.tensor(ElementType.OPAQUE, Storage.INTERMEDIATE, most, most);
        int filter = sketch.tensor(ElementType.OPAQUE, Storage.CONSTANT, 1, most, most, 1);
        int output = sketch.operator("CONV_2D", List.of(most, 4), huge, filter);
        Graph graph = sketch.output(output).build();
        assertEquals(1L << 50, Flops.of(graph, graph.operators().get(0)));
    }
}
