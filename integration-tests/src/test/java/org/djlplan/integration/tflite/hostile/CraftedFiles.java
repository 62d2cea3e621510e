package org.djlplan.integration.tflite.hostile;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.thirdparty.guava.base.Splitter;

/** Makes {@link CraftedFile}s: each operator with each of the numbers that break kernels. */
final class CraftedFiles extends OperatorFiles {

    private static final int MAX = Integer.MAX_VALUE;
    private static final int MIN = Integer.MIN_VALUE;

    /** Values of sizes, strides and positions that are likely to break kernels. */
    private static final int[] NASTY = {0, -1, -5, 100, 100_000, 1 << 30, MAX, MIN};

    /** Scales with which integers stand for no real value. */
    private static final float[] SCALES = {
        0,
        Float.NaN,
        Float.POSITIVE_INFINITY,
        -1,
        1e-40f,
        1e-12f,
        1e-8f,
        1e-5f,
        1e4f,
        1e8f,
        1e12f,
        3e38f
    };

    private static final List<String> POOLS =
            List.of("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D");

    private static final List<String> RESIZES =
            List.of("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR");

    private static final FlatTable CONVOLUTION =
            options("Conv2DOptions", "stride_w", 1, "stride_h", 1);

    private static final FlatTable DEPTHWISE =
            options("DepthwiseConv2DOptions", "stride_w", 1, "stride_h", 1)
                    .with("depth_multiplier", 1);

    private static final FlatTable POOL =
            options("Pool2DOptions", "stride_w", 1, "stride_h", 1)
                    .with("filter_width", 2)
                    .with("filter_height", 2);

    private CraftedFiles() {}

    /** Returns all crafted files. */
    static List<CraftedFile> all() {
        CraftedFiles made = new CraftedFiles();
        made.windows(0);
        made.windows(1);
        made.filters();
        made.slices();
        made.shapes();
        made.axes();
        made.indices();
        made.parameters();
        made.factors();
        made.arithmetic();
        made.quantized();
        made.empty();
        made.large();
        made.called();
        made.files.addAll(RefusedFiles.all());
        return made.files;
    }

    /** Numbers that are in the file or given as inputs. */
    private record Numbers(boolean constant, int... values) {

        /** Takes as many numbers as a tensor has elements. */
        Operand from(int first, Form form) {
            int[] part = Arrays.copyOfRange(values, first, first + form.bytes() / Integer.BYTES);
            return constant ? numbers(form, part) : input(form, form.shape(), content(part));
        }

        Operand as(Form form) {
            return from(0, form);
        }

        @Override
        public String toString() {
            return (constant ? "constant " : "input ") + Arrays.toString(values);
        }
    }

    /** Replaces each number of a vector by each nasty number, in the file and as an input. */
    private static void spoil(int[] good, Consumer<Numbers> made) {
        for (int i = 0; i < good.length; i++) {
            for (int value : NASTY) {
                int[] copy = good.clone();
                copy[i] = value;
                bothWays(copy, made);
            }
        }
    }

    private static void bothWays(int[] values, Consumer<Numbers> made) {
        made.accept(new Numbers(true, values));
        made.accept(new Numbers(false, values));
    }

    /** Adds models of an operator with data and spoilt numbers. */
    private void operand(
            String operator, FlatTable options, Form out, Form data, Form form, int... good) {
        spoil(good, v -> add("" + v, operator, options, out, data(data), v.as(form)));
    }

    /** Adds models for a field of the options and each nasty number. */
    private void field(
            String name, String operator, FlatTable good, List<Operand> out, Operand... operands) {
        for (int value : NASTY) {
            add(name + "=" + value, operator, good.with(name, value), out, operands);
        }
    }

    private void field(
            String name, String operator, FlatTable good, Form out, Operand... operands) {
        field(name, operator, good, List.of(result(out)), operands);
    }

    private void windows(int padding) {
        Form image = floats(1, 8, 8, 3);
        Form volume = floats(1, 4, 4, 4, 2);
        FlatTable conv = CONVOLUTION.with("padding", padding);
        FlatTable depthwise = DEPTHWISE.with("padding", padding);
        for (String name :
                List.of("stride_w", "stride_h", "dilation_w_factor", "dilation_h_factor")) {
            Operand bias = constant(floats(3));
            field(name, "CONV_2D", conv, image, data(image), constant(floats(3, 3, 3, 3)), bias);
            Operand filter = constant(floats(1, 3, 3, 3));
            field(name, "DEPTHWISE_CONV_2D", depthwise, image, data(image), filter, bias);
        }
        field(
                "depth_multiplier",
                "DEPTHWISE_CONV_2D",
                depthwise,
                image,
                data(image),
                constant(floats(1, 3, 3, 3)),
                constant(floats(3)));
        for (String type : POOLS) {
            for (String name : List.of("stride_w", "stride_h", "filter_width", "filter_height")) {
                field(name, type, POOL.with("padding", padding), image, data(image));
            }
        }
        for (String name :
                List.of("stride_d", "stride_w", "dilation_d_factor", "dilation_h_factor")) {
            FlatTable options =
                    options("Conv3DOptions", "stride_d", 1, "stride_w", 1, "stride_h", 1)
                            .with("padding", padding);
            Operand filter = constant(floats(2, 2, 2, 2, 2));
            field(name, "CONV_3D", options, volume, data(volume), filter);
        }
        FlatTable transposed =
                options("TransposeConvOptions", "stride_w", 2, "stride_h", 2, "padding", padding);
        Form large = floats(1, 16, 16, 3);
        Operand filter = constant(floats(3, 3, 3, 3));
        for (String name : List.of("stride_w", "stride_h")) {
            Operand size = numbers(ints(4), 1, 16, 16, 3);
            field(name, "TRANSPOSE_CONV", transposed, large, size, filter, data(image));
        }
        spoil(
                new int[] {1, 16, 16, 3},
                v ->
                        add(
                                "" + v,
                                "TRANSPOSE_CONV",
                                transposed,
                                large,
                                v.as(ints(4)),
                                filter,
                                data(image)));
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

    private void slices() {
        Form row = floats(1, 8);
        Consumer<Numbers> slice =
                v -> {
                    Operand size = v.from(2, ints(2));
                    add("" + v, "SLICE", null, floats(1, 3), data(row), v.as(ints(2)), size);
                };
        spoil(new int[] {0, 2, 1, 3}, slice);
        bothWays(new int[] {0, MAX, 1, MAX}, slice);
        bothWays(new int[] {0, 100, 1, -1}, slice);
        bothWays(new int[] {0, 4, 1, -1}, slice);
        bothWays(new int[] {0, 7, 1, 2}, slice);
        bothWays(new int[] {0, -5, 1, 8}, slice);
        FlatTable strided = options("StridedSliceOptions");
        spoil(
                new int[] {0, 2, 1, 6, 1, 2},
                v -> {
                    Operand[] operands = {
                        data(row), v.as(ints(2)), v.from(2, ints(2)), v.from(4, ints(2))
                    };
                    add("" + v, "STRIDED_SLICE", strided, row, operands);
                });
        for (String mask :
                List.of(
                        "begin_mask",
                        "end_mask",
                        "ellipsis_mask",
                        "new_axis_mask",
                        "shrink_axis_mask")) {
            Operand begin = numbers(ints(2), 0, 2);
            Operand end = numbers(ints(2), 1, 6);
            Operand stride = numbers(ints(2), 1, 2);
            field(mask, "STRIDED_SLICE", strided, row, data(row), begin, end, stride);
        }
        Operand update = data(floats(1, 3));
        spoil(
                new int[] {0, 2},
                v ->
                        add(
                                "" + v,
                                "DYNAMIC_UPDATE_SLICE",
                                null,
                                row,
                                data(row),
                                update,
                                v.as(ints(2))));
        Form padded = floats(1, 10);
        operand("PAD", null, padded, row, ints(2, 2), 0, 0, 1, 1);
        operand("MIRROR_PAD", options("MirrorPadOptions"), padded, row, ints(2, 2), 0, 0, 1, 1);
        Operand value = constant(floats(1));
        spoil(
                new int[] {0, 0, 1, 1},
                v -> add("" + v, "PADV2", null, padded, data(row), v.as(ints(2, 2)), value));
        Form image = floats(4, 8, 8, 1);
        for (String type : List.of("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND")) {
            spoil(
                    new int[] {2, 2, 0, 0, 0, 0},
                    v -> {
                        Operand more = v.from(2, ints(2, 2));
                        Form out = floats(16, 4, 4, 1);
                        add("" + v, type, null, out, data(image), v.as(ints(2)), more);
                    });
        }
    }

    private void shapes() {
        Form row = floats(1, 8);
        Operand value = constant(floats());
        operand("RESHAPE", null, floats(2, 4), row, ints(2), 2, 4);
        operand("TILE", null, floats(2, 16), row, ints(2), 2, 2);
        operand("BROADCAST_TO", null, floats(2, 8), row, ints(2), 2, 8);
        spoil(
                new int[] {2, 8},
                v -> add("" + v, "FILL", null, floats(2, 8), v.as(ints(2)), data(floats())));
        for (String type : RESIZES) {
            operand(type, null, floats(1, 4, 4, 3), floats(1, 8, 8, 3), ints(2), 4, 4);
        }
        operand("RFFT2D", null, Form.of(ElementType.COMPLEX64, 8, 5), floats(8, 8), ints(2), 8, 8);
        spoil(
                new int[] {0, 10, 2},
                v -> {
                    Operand end = v.from(1, ints());
                    add("" + v, "RANGE", null, ints(5), v.as(ints()), end, v.from(2, ints()));
                });
        FlatTable last = options("OneHotOptions", "axis", -1);
        Operand indices = new Numbers(false, 0, 1, 100).as(ints(3));
        spoil(
                new int[] {4},
                v -> {
                    Operand depth = v.as(ints());
                    add("" + v, "ONE_HOT", last, floats(3, 4), indices, depth, value, value);
                    List<Operand> best = List.of(result(floats(1, 2)), result(ints(1, 2)));
                    add("" + v, "TOPK_V2", null, best, data(row), depth);
                    Form samples = Form.of(ElementType.INT64, 1, 4);
                    FlatTable options = options("RandomOptions");
                    add("" + v, "MULTINOMIAL", options, samples, data(row), depth);
                });
        FlatTable seeds = options("RandomOptions", "seed", 1L, "seed2", 1L);
        spoil(
                new int[] {2, 3},
                v -> add("" + v, "RANDOM_UNIFORM", seeds, floats(2, 3), v.as(ints(2))));
    }

    private void axes() {
        Form data = floats(2, 3, 4);
        for (String type : List.of("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN")) {
            operand(type, options("ReducerOptions"), floats(2, 4), data, ints(1), 1);
            operand(type, options("ReducerOptions"), floats(2), data, ints(2), 1, 2);
        }
        FlatTable greatest = options("ArgMaxOptions", "output_type", 2);
        FlatTable least = options("ArgMinOptions", "output_type", 2);
        operand("ARG_MAX", greatest, ints(2, 4), data, ints(1), 1);
        operand("ARG_MIN", least, ints(2, 4), data, ints(1), 1);
        operand("EXPAND_DIMS", null, floats(2, 1, 3, 4), data, ints(1), 1);
        operand("TRANSPOSE", null, floats(4, 3, 2), data, ints(3), 2, 1, 0);
        operand("TRANSPOSE", null, floats(4, 3, 2), data, ints(3), 1, 1, 1);
        operand("REVERSE_V2", null, data, data, ints(1), 1);
        operand("CUMSUM", options("CumsumOptions"), data, data, ints(), 1);
        FlatTable halves = options("SplitOptions", "num_splits", 2);
        List<Operand> half = List.of(result(floats(2, 2)), result(floats(2, 2)));
        Operand whole = data(floats(2, 4));
        spoil(new int[] {1}, v -> add("axis " + v, "SPLIT", halves, half, v.as(ints()), whole));
        field("num_splits", "SPLIT", halves, half, numbers(ints(), 1), whole);
        spoil(
                new int[] {1, 3, 1},
                v -> {
                    List<Operand> parts = List.of(result(floats(2, 1)), result(floats(2, 3)));
                    FlatTable options = options("SplitVOptions", "num_splits", 2);
                    Operand axis = v.from(2, ints());
                    add("" + v, "SPLIT_V", options, parts, whole, v.as(ints(2)), axis);
                });
    }

    private void indices() {
        Operand table = data(floats(4, 3));
        Operand rows = data(floats(2, 3));
        Form sums = floats(3, 3);
        Form batch = floats(2, 4, 3);
        FlatTable reversed = options("ReverseSequenceOptions", "seq_dim", 1, "batch_dim", 0);
        spoil(
                new int[] {1, 2},
                v -> {
                    Operand at = v.as(ints(2));
                    add("" + v, "GATHER", options("GatherOptions"), floats(2, 3), table, at);
                    add("" + v, "GATHER_ND", null, floats(2, 3), table, v.as(ints(2, 1)));
                    Operand fixed = constant(floats(4, 3));
                    add("" + v, "EMBEDDING_LOOKUP", null, floats(2, 3), at, fixed);
                    add("" + v, "SEGMENT_SUM", null, sums, rows, at);
                    for (String type : List.of("SUM", "MAX", "MIN", "PROD")) {
                        Operand count = numbers(ints(), 3);
                        add("" + v, "UNSORTED_SEGMENT_" + type, null, sums, rows, at, count);
                    }
                    add("" + v, "REVERSE_SEQUENCE", reversed, batch, data(batch), at);
                });
        spoil(
                new int[] {1, 2, 4, 3},
                v -> {
                    Operand shape = v.from(2, ints(2));
                    add("" + v, "SCATTER_ND", null, floats(4, 3), v.as(ints(2, 1)), rows, shape);
                });
        spoil(
                new int[] {1, 2, 4},
                v -> {
                    Operand[] operands = {
                        v.as(ints(2)), v.from(2, ints(1)), data(floats(2)), constant(floats())
                    };
                    FlatTable options = options("SparseToDenseOptions");
                    add("" + v, "SPARSE_TO_DENSE", options, floats(4), operands);
                });
        spoil(
                new int[] {3},
                v -> {
                    Operand at = numbers(ints(2), 0, 1);
                    Operand most = v.as(ints());
                    add("segments " + v, "UNSORTED_SEGMENT_SUM", null, sums, rows, at, most);
                    Operand[] operands = {
                        data(floats(6, 4)),
                        data(floats(6)),
                        most,
                        file -> file.model().floats(new int[] {}, 0.5f),
                        file -> file.model().floats(new int[] {}, 0.1f)
                    };
                    List<Operand> results = List.of(result(ints(3)), result(ints()));
                    add("" + v, "NON_MAX_SUPPRESSION_V4", null, results, operands);
                });
    }

    private void parameters() {
        Form image = floats(1, 8, 8, 4);
        Operand x = data(image);
        field("block_size", "SPACE_TO_DEPTH", options("SpaceToDepthOptions"), image, x);
        field("block_size", "DEPTH_TO_SPACE", options("DepthToSpaceOptions"), image, x);
        FlatTable concat = options("ConcatenationOptions");
        field("axis", "CONCATENATION", concat, image, x, constant(image));
        FlatTable pack = options("PackOptions", "axis", 0, "values_count", 2);
        Operand rows = data(floats(2, 3));
        for (String name : List.of("axis", "values_count")) {
            field(name, "PACK", pack, floats(2, 2, 3), rows, constant(floats(2, 3)));
        }
        List<Operand> halves = List.of(result(floats(3)), result(floats(3)));
        field("axis", "UNPACK", options("UnpackOptions", "num", 2), halves, rows);
        field("num", "UNPACK", options("UnpackOptions"), halves, rows);
        Operand at = numbers(ints(2), 0, 1);
        for (String name : List.of("axis", "batch_dims")) {
            FlatTable gather = options("GatherOptions");
            field(name, "GATHER", gather, floats(2, 3), data(floats(4, 3)), at);
        }
        for (String name : List.of("seq_dim", "batch_dim")) {
            FlatTable reverse = options("ReverseSequenceOptions", "seq_dim", 1, "batch_dim", 0);
            Form batch = floats(2, 4, 3);
            Operand lengths = numbers(ints(2), 1, 2);
            field(name, "REVERSE_SEQUENCE", reverse, batch, data(batch), lengths);
        }
        Operand indices = new Numbers(false, 0, 1, 2).as(ints(3));
        Operand on = constant(floats());
        FlatTable oneHot = options("OneHotOptions");
        field("axis", "ONE_HOT", oneHot, floats(3, 4), indices, numbers(ints(), 4), on, on);
        FlatTable normalization =
                options("LocalResponseNormalizationOptions", "alpha", 1f, "beta", 0.5f, "bias", 1f);
        field("radius", "LOCAL_RESPONSE_NORMALIZATION", normalization, image, x);
        FlatTable quantization = options("FakeQuantOptions", "min", -1f, "max", 1f);
        field("num_bits", "FAKE_QUANT", quantization, image, x);
        field(
                "rank",
                "SVDF",
                options("SVDFOptions"),
                floats(2, 4),
                rows,
                constant(floats(4, 3)),
                constant(floats(4, 5)),
                constant(floats(4)),
                file -> file.model().state(2, 20));
        Operand row = data(floats(1, 8));
        for (int value : NASTY) {
            FlatTable squeeze = options("SqueezeOptions", "squeeze_dims", List.of(value));
            add("squeeze_dims=" + value, "SQUEEZE", squeeze, floats(8), row);
            FlatTable reshape = options("ReshapeOptions", "new_shape", List.of(2, value));
            add("new_shape=" + value, "RESHAPE", reshape, floats(2, 4), row);
        }
        for (float beta : new float[] {0, Float.NaN, -1, Float.POSITIVE_INFINITY}) {
            FlatTable softmax = options("SoftmaxOptions", "beta", beta);
            add("beta=" + beta, "SOFTMAX", softmax, floats(1, 8), row);
        }
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

    private void arithmetic() {
        for (String type : List.of("DIV", "FLOOR_DIV", "FLOOR_MOD", "POW", "RIGHT_SHIFT", "MUL")) {
            FlatTable options =
                    switch (type) {
                        case "DIV" -> options("DivOptions");
                        case "MUL" -> options("MulOptions");
                        default -> null;
                    };
            Operand dividend = new Numbers(false, MIN, 7).as(ints(2));
            for (int value : NASTY) {
                bothWays(
                        new int[] {value, value},
                        v -> add("" + v, type, options, ints(2), dividend, v.as(ints(2))));
            }
        }
    }

    /** Operators, each with the type of its options if it has any. */
    private static final List<String> QUANTIZED_BINARY =
            List.of(
                    "ADD AddOptions",
                    "SUB SubOptions",
                    "MUL MulOptions",
                    "SQUARED_DIFFERENCE",
                    "MAXIMUM",
                    "PRELU",
                    "LESS",
                    "EQUAL",
                    "CONCATENATION ConcatenationOptions");

    private static final List<String> QUANTIZED_UNARY =
            List.of(
                    "LOGISTIC",
                    "TANH",
                    "RELU",
                    "RELU6",
                    "LEAKY_RELU LeakyReluOptions",
                    "HARD_SWISH",
                    "ELU",
                    "EXP",
                    "LOG",
                    "ABS",
                    "RSQRT",
                    "GELU GeluOptions",
                    "SOFTMAX SoftmaxOptions",
                    "LOG_SOFTMAX",
                    "L2_NORMALIZATION L2NormOptions",
                    "QUANTIZE",
                    "DEQUANTIZE",
                    "RESHAPE");

    private void quantized() {
        List<List<Float>> scales = new ArrayList<>(List.of(List.of()));
        for (float scale : SCALES) {
            scales.add(List.of(scale));
        }
        for (ElementType type : List.of(ElementType.INT8, ElementType.UINT8, ElementType.INT16)) {
            for (List<Float> bad : scales) {
                for (int spoilt = 0; spoilt < 3; spoilt++) {
                    for (String operator : QUANTIZED_BINARY) {
                        binary(operator, type, bad, spoilt);
                    }
                    for (String operator : QUANTIZED_UNARY) {
                        unary(operator, type, bad, spoilt);
                    }
                }
                for (int spoilt = 0; type == ElementType.INT8 && spoilt < 4; spoilt++) {
                    weighted(bad, spoilt);
                }
            }
        }
    }

    /** A tensor that may have bad scales. */
    private static Operand scaled(boolean spoilt, List<Float> scales, Form form, boolean input) {
        return file -> {
            if (input) {
                file.inputs().add(random(form));
                file.shapes().add(form.shape());
            }
            ModelSketch model = file.model();
            if (spoilt) {
                return input ? model.input(form, scales) : model.tensor(form, scales);
            }
            return input ? model.input(form) : model.tensor(form);
        };
    }

    private static Operand weights(boolean spoilt, List<Float> scales, Form form) {
        return spoilt
                ? file -> file.model().constant(form, scales, 0, random(form))
                : constant(form);
    }

    private void quantized(
            String operator, String name, List<Operand> results, Operand... operands) {
        List<String> parts = Splitter.on(' ').splitToList(operator);
        add(name, parts.get(0), parts.size() > 1 ? options(parts.get(1)) : null, results, operands);
    }

    /**
     * @param spoilt which tensor has bad scales: 0 or 1 for an operand, 2 for the result
     */
    private void binary(String operator, ElementType type, List<Float> scales, int spoilt) {
        Form form = Form.of(type, 1, 8).scaled(0.1f, 0);
        boolean truth = operator.startsWith("LESS") || operator.startsWith("EQUAL");
        Operand out =
                truth && spoilt < 2
                        ? result(Form.of(ElementType.BOOL, 1, 8))
                        : scaled(spoilt == 2, scales, form, false);
        Operand first = scaled(spoilt == 0, scales, form, true);
        Operand second = scaled(spoilt == 1, scales, form, true);
        quantized(operator, type + " " + spoilt + " " + scales, List.of(out), first, second);
    }

    private void unary(String operator, ElementType type, List<Float> scales, int spoilt) {
        boolean fromFloat = operator.equals("QUANTIZE");
        boolean toFloat = operator.equals("DEQUANTIZE");
        if (spoilt == 1 || (fromFloat && spoilt == 0) || (toFloat && spoilt == 2)) {
            return;
        }
        Form form = Form.of(type, 1, 8).scaled(0.1f, 0);
        Form from = fromFloat ? floats(1, 8) : form;
        Operand out = scaled(spoilt == 2, scales, toFloat ? floats(1, 8) : form, false);
        Operand x = scaled(spoilt == 0, scales, from, true);
        quantized(operator, type + " " + spoilt + " " + scales, List.of(out), x);
    }

    /**
     * @param spoilt which tensor has bad scales: the image, the weights, the result or the bias
     */
    private void weighted(List<Float> scales, int spoilt) {
        for (String operator : List.of("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")) {
            boolean full = operator.equals("FULLY_CONNECTED");
            boolean depthwise = operator.equals("DEPTHWISE_CONV_2D");
            int[] shape = full ? new int[] {1, 8} : new int[] {1, 4, 4, 2};
            int[] filter = full ? new int[] {2, 8} : new int[] {depthwise ? 1 : 2, 2, 2, 2};
            Form image = Form.of(ElementType.INT8, shape).scaled(0.1f, 0);
            Form weights = Form.of(ElementType.INT8, filter).scaled(0.1f, 0);
            Form bias = ints(2).scaled(0.01f, 0);
            add(
                    "int8 " + spoilt + " " + scales,
                    operator,
                    full ? options("FullyConnectedOptions") : depthwise ? DEPTHWISE : CONVOLUTION,
                    List.of(scaled(spoilt == 2, scales, image, false)),
                    scaled(spoilt == 0, scales, image, true),
                    weights(spoilt == 1, scales, weights),
                    weights(spoilt == 3, scales, bias));
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
    private void large() {
        for (int[] shape :
                new int[][] {
                    {MAX}, {1, 1 << 29}, {1 << 20, 1 << 20}, {1 << 16, 1 << 16, 1 << 16, 1 << 16}
                }) {
            Form form = floats(shape);
            Operand x = input(form, form.shape(), ByteBuffer.allocate(4));
            add("of " + Arrays.toString(shape), "RELU", null, form, x);
        }
        for (int[] size : new int[][] {{1 << 15, 1 << 15}, {1 << 16, 1 << 14}, {1 << 30, 1}}) {
            bothWays(
                    size,
                    v -> {
                        Operand shape = v.as(ints(2));
                        add("" + v, "FILL", null, floats(1), shape, data(floats()));
                        add("" + v, "TILE", null, floats(1), data(floats(1, 1)), shape);
                    });
        }
    }

    /** Adds models that call a graph with a slice or a convolution. */
    private void called() {
        FlatTable options =
                options("IfOptions", "then_subgraph_index", 1, "else_subgraph_index", 2);
        Operand slices =
                branches(
                        graph -> {
                            int x = graph.input(floats(1, 8));
                            int begin = graph.input(ints(2));
                            int size = graph.input(ints(2));
                            return graph.operator(
                                    "SLICE", Optional.empty(), floats(1, 3), x, begin, size);
                        });
        spoil(
                new int[] {0, 2, 1, 3},
                v -> {
                    Operand[] operands = {
                        slices, data(floats(1, 8)), v.as(ints(2)), v.from(2, ints(2))
                    };
                    add("of slices " + v, "IF", options, floats(1, 3), operands);
                });
        Operand convolutions =
                branches(
                        graph -> {
                            int image = graph.input(floats(1, 8, 8, 3));
                            Form filter = floats(3, 3, 3, 3);
                            return graph.operator(
                                    "CONV_2D",
                                    Optional.of(CONVOLUTION.with("padding", 1)),
                                    floats(1, 6, 6, 3),
                                    image,
                                    graph.constant(filter, random(filter)),
                                    graph.floats(new int[] {3}, 0, 0, 0));
                        });
        for (int side : new int[] {0, 1, 2, 3}) {
            Operand x = data(floats(1, side, side, 3));
            String name = "of convolutions of " + side;
            add(name, "IF", options, floats(1, 6, 6, 3), convolutions, x);
        }
    }

    /** The condition of two equal branches. */
    private static Operand branches(ToIntFunction<ModelSketch> graph) {
        return file -> {
            for (String name : List.of("then", "else")) {
                ModelSketch branch = file.model().subgraph(name);
                branch.output(graph.applyAsInt(branch));
            }
            return file.model().constant(Form.of(ElementType.BOOL), ByteBuffer.allocate(1));
        };
    }
}
