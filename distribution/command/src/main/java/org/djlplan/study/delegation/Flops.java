package org.djlplan.study.delegation;

import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.thirdparty.guava.math.LongMath;

/**
 * Counts floating-point operations of TensorFlow Lite's operators, from the shapes of their
 * tensors; a multiplication with its addition counts as two. Quantized operators count like
 * floating-point ones.
 *
 * <p>A graph has no strides or window sizes. Convolutions need none, because the shapes of the
 * output and the filter are sufficient. For pools the input's elements are counted, as if the
 * windows did not overlap.
 */
final class Flops {

    /** More than any operator has; keeps sums for invalid shapes within a long. */
    private static final long MOST = 1L << 50;

    private Flops() {}

    /**
     * Returns the operations of one run of an operator, or 0 if a required shape is unknown or
     * invalid for the operator.
     */
    public static long of(Graph graph, Operator operator) {
        if (operator.outputs().isEmpty()) {
            return 0;
        }
        long outputs = elements(output(graph, operator));
        return switch (operator.type()) {
            case "CONV_2D", "FULLY_CONNECTED" ->
                    sums(outputs, elements(input(graph, operator, 1)), channels(graph, operator));
            case "DEPTHWISE_CONV_2D" -> sums(outputs, taps(graph, operator), 1);
            case "TRANSPOSE_CONV" -> transposed(graph, operator);
            case "BATCH_MATMUL" -> sums(outputs, inner(graph, operator), 1);
            case "AVERAGE_POOL_2D",
                    "MAX_POOL_2D",
                    "L2_POOL_2D",
                    "MEAN",
                    "SUM",
                    "REDUCE_MAX",
                    "REDUCE_MIN",
                    "REDUCE_PROD" ->
                    Math.max(elements(input(graph, operator, 0)), outputs);
            case "RESHAPE", "SQUEEZE", "EXPAND_DIMS" -> 0;
            default -> Math.min(outputs, MOST);
        };
    }

    /**
     * Returns how many positions of the input contribute to one output element of a channel: height
     * times width of the filter; 1 for operators without such a filter.
     */
    public static long taps(Graph graph, Operator operator) {
        int place =
                switch (operator.type()) {
                    case "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV" -> 1;
                    default -> -1;
                };
        List<Integer> filter = place < 0 ? List.of() : input(graph, operator, place);
        return filter.size() == 4 && elements(filter) > 0
                ? Math.min((long) filter.get(1) * filter.get(2), MOST)
                : 1;
    }

    /** Returns the FLOPs of results that are sums of {@code terms / groups} products each. */
    private static long sums(long results, long terms, long groups) {
        return groups == 0
                ? 0
                : Math.min(
                        LongMath.saturatedMultiply(results, 2 * Math.min(terms / groups, MOST)),
                        MOST);
    }

    /** A filter has one row per output channel; each output element uses one row. */
    private static long channels(Graph graph, Operator operator) {
        List<Integer> filter = input(graph, operator, 1);
        return filter.isEmpty() ? 0 : Math.max(filter.get(0), 0);
    }

    /**
     * Each element of the input (third operand, after the output's shape) is multiplied with one
     * slice of the filter.
     */
    private static long transposed(Graph graph, Operator operator) {
        List<Integer> filter = input(graph, operator, 1);
        long channels = filter.isEmpty() ? 0 : Math.max(filter.get(filter.size() - 1), 0);
        return sums(elements(input(graph, operator, 2)), elements(filter), channels);
    }

    /**
     * Returns the length of the summed products, whether or not the first operand is transposed.
     */
    private static long inner(Graph graph, Operator operator) {
        List<Integer> left = input(graph, operator, 0);
        List<Integer> product = output(graph, operator);
        if (left.size() < 2 || product.size() < 2 || elements(left) == 0) {
            return 0;
        }
        int rows = product.get(product.size() - 2);
        boolean transposed = left.get(left.size() - 2) != rows;
        return left.get(left.size() - (transposed ? 2 : 1));
    }

    private static List<Integer> input(Graph graph, Operator operator, int place) {
        return operator.inputs().size() <= place
                ? List.of(0)
                : graph.tensors().get(operator.inputs().get(place)).shape();
    }

    private static List<Integer> output(Graph graph, Operator operator) {
        return graph.tensors().get(operator.outputs().get(0)).shape();
    }

    /** Returns 0 if a dimension is unknown. */
    private static long elements(List<Integer> shape) {
        long elements = 1;
        for (int dimension : shape) {
            elements = LongMath.saturatedMultiply(elements, Math.max(dimension, 0));
        }
        return elements;
    }
}
