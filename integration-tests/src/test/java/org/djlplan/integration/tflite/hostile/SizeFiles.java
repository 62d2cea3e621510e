package org.djlplan.integration.tflite.hostile;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.internal.source.tflite.FlatTable;

/** Makes {@link CraftedFile}s whose tensors are empty, too large, or do not fit each other. */
final class SizeFiles extends OperatorFiles {

    private SizeFiles() {}

    /** Returns all of them. */
    static List<CraftedFile> all() {
        SizeFiles made = new SizeFiles();
        made.filters();
        made.factors();
        made.empty();
        made.huge();
        return made.files;
    }

    /**
     * Adds models with filters that have no elements, are larger than the image, or have other
     * channels.
     */
    private void filters() {
        for (int padding : new int[] {0, 1}) {
            for (int[] size : new int[][] {{0, 0}, {0, 3}, {3, 0}, {100, 100}, {9, 1}}) {
                String name = "filter " + Arrays.toString(size) + " " + padding;
                filter(name, padding, size[0], size[1], 3, 3);
            }
            for (int channels : new int[] {0, 1, 2, 4, 5}) {
                for (int bias : new int[] {0, 1, 3, 100}) {
                    String name = "channels " + channels + ", bias " + bias;
                    filter(name, padding, 3, 3, channels, bias);
                }
            }
        }
    }

    private void filter(String name, int padding, int height, int width, int channels, int bias) {
        Form image = floats(1, 8, 8, 3);
        Operand biases = constant(floats(bias));
        Operand filter = constant(floats(3, height, width, channels));
        FlatTable conv = CONVOLUTION.with("padding", padding);
        add(name, "CONV_2D", conv, image, data(image), filter, biases);
        filter = constant(floats(1, height, width, channels));
        FlatTable depthwise = DEPTHWISE.with("padding", padding);
        add(name, "DEPTHWISE_CONV_2D", depthwise, image, data(image), filter, biases);
    }

    private void factors() {
        Operand row = data(floats(1, 8));
        Form out = floats(1, 4);
        for (int[] weights :
                new int[][] {{4, 8}, {4, 0}, {0, 8}, {4, 3}, {4, 16}, {0, 0}, {1, 1}}) {
            for (int bias : new int[] {4, 0, 1, 100}) {
                String name = Arrays.toString(weights) + ", bias " + bias;
                Operand factor = constant(floats(weights));
                FlatTable options = options("FullyConnectedOptions");
                add(name, "FULLY_CONNECTED", options, out, row, factor, constant(floats(bias)));
            }
        }
        for (int[] other : new int[][] {{8, 4}, {0, 4}, {8, 0}, {7, 4}, {4, 8}, {2, 8, 4}, {8}}) {
            FlatTable options = options("BatchMatMulOptions");
            String name = Arrays.toString(other);
            add(name, "BATCH_MATMUL", options, out, row, data(floats(other)));
        }
    }

    /** Adds empty tensors as operands of operators that divide by the number of elements. */
    private void empty() {
        for (int[] shape : new int[][] {{1, 0, 8, 3}, {0, 8, 8, 3}, {1, 8, 8, 0}}) {
            Form image = floats(shape);
            String name = "of " + Arrays.toString(shape);
            Operand x = data(image);
            POOLS.forEach(type -> add(name, type, POOL, image, x));
            for (String type :
                    List.of("RELU", "LOG_SOFTMAX", "EXP", "LOGISTIC", "HARD_SWISH", "NEG")) {
                add(name, type, null, image, x);
            }
            add(name, "SOFTMAX", options("SoftmaxOptions", "beta", 1f), image, x);
            add(name, "L2_NORMALIZATION", options("L2NormOptions"), image, x);
            FlatTable normalization = options("LocalResponseNormalizationOptions", "radius", 1);
            add(name, "LOCAL_RESPONSE_NORMALIZATION", normalization, image, x);
            add(name, "SPACE_TO_DEPTH", options("SpaceToDepthOptions", "block_size", 2), image, x);
            add(name, "DEPTH_TO_SPACE", options("DepthToSpaceOptions", "block_size", 2), image, x);
            for (int side : new int[] {3, 0}) {
                FlatTable reshape = options("ReshapeOptions", "new_shape", List.of(-1, side));
                add(name, "RESHAPE", reshape, image, x);
            }
            for (String type : List.of("MEAN", "SUM", "REDUCE_MAX", "REDUCE_PROD")) {
                Operand axes = numbers(ints(2), 1, 2);
                add(name, type, options("ReducerOptions"), floats(1, 3), x, axes);
            }
            for (String type : RESIZES) {
                add(name, type, null, floats(1, 3), x, numbers(ints(2), 4, 4));
            }
            FlatTable full = options("FullyConnectedOptions");
            Operand factor = constant(floats(4, 8));
            add(name, "FULLY_CONNECTED", full, floats(1, 4), x, factor, constant(floats(4)));
            Operand filter = constant(floats(3, 3, 3, shape[3]));
            add(name, "CONV_2D", CONVOLUTION, floats(1, 4), x, filter, constant(floats(3)));
            Operand one = numbers(ints(), 1);
            FlatTable greatest = options("ArgMaxOptions", "output_type", 2);
            add(name, "ARG_MAX", greatest, ints(1), x, one);
            List<Operand> best = List.of(result(floats(1)), result(ints(1)));
            add(name, "TOPK_V2", options("TopKV2Options"), best, x, one);
            add(name, "GATHER", options("GatherOptions"), floats(1), x, one);
            add(name, "CUMSUM", options("CumsumOptions"), floats(1), x, one);
        }
    }

    /** Adds inputs that are too large for any machine. */
    private void huge() {
        for (int[] shape :
                new int[][] {
                    {Integer.MAX_VALUE},
                    {1, 1 << 29},
                    {1 << 20, 1 << 20},
                    {1 << 16, 1 << 16, 1 << 16, 1 << 16}
                }) {
            Form form = floats(shape);
            Operand x = input(form, form.shape(), ByteBuffer.allocate(4));
            add("of " + Arrays.toString(shape), "RELU", null, form, x);
        }
    }
}
