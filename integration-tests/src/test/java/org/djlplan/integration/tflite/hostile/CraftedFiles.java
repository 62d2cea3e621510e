package org.djlplan.integration.tflite.hostile;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
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

    private CraftedFiles() {}

    /** Returns all crafted files. */
    static List<CraftedFile> all() {
        CraftedFiles made = new CraftedFiles();
        made.windows(0);
        made.windows(1);
        made.slices();
        made.shapes();
        made.axes();
        made.indices();
        made.parameters();
        made.divisors();
        made.called();
        made.files.addAll(SizeFiles.all());
        made.files.addAll(ScaleFiles.all());
        made.files.addAll(RefusedFiles.all());
        return made.files;
    }

    /** Adds models in which each nasty number replaces each number of the operands. */
    private void spoil(
            String operator, FlatTable options, List<Operand> results, Operand... operands) {
        for (Operand operand : operands) {
            int[] values = operand instanceof Numbers numbers ? numbers.values() : new int[0];
            for (int i = 0; i < values.length; i++) {
                int good = values[i];
                for (int value : NASTY) {
                    values[i] = value;
                    addBothWays(operator, options, results, operands);
                }
                values[i] = good;
            }
        }
    }

    private void spoil(String operator, FlatTable options, Form out, Operand... operands) {
        spoil(operator, options, List.of(result(out)), operands);
    }

    /** Adds a model with the numbers in its file, and one that gets them as inputs. */
    private void addBothWays(
            String operator, FlatTable options, List<Operand> results, Operand... operands) {
        int[] values =
                Stream.of(operands)
                        .filter(Numbers.class::isInstance)
                        .flatMapToInt(each -> Arrays.stream(((Numbers) each).values()))
                        .toArray();
        String name = Arrays.toString(values);
        add("constant " + name, operator, options, results, operands);
        Operand[] inputs = operands.clone();
        Arrays.setAll(
                inputs,
                i -> inputs[i] instanceof Numbers n ? input(n.form(), n.values()) : inputs[i]);
        add("input " + name, operator, options, results, inputs);
    }

    private void addBothWays(String operator, FlatTable options, Form out, Operand... operands) {
        addBothWays(operator, options, List.of(result(out)), operands);
    }

    /**
     * Adds models for each field of the options and each nasty number.
     *
     * @param names the names of the fields, with spaces between them
     */
    private void fields(
            String names,
            String operator,
            FlatTable good,
            List<Operand> results,
            Operand... operands) {
        for (String name : Splitter.on(' ').split(names)) {
            for (int value : NASTY) {
                add(name + "=" + value, operator, good.with(name, value), results, operands);
            }
        }
    }

    private void fields(
            String names, String operator, FlatTable good, Form out, Operand... operands) {
        fields(names, operator, good, List.of(result(out)), operands);
    }

    private void windows(int padding) {
        Form image = floats(1, 8, 8, 3);
        Operand x = data(image);
        Operand filter = constant(floats(3, 3, 3, 3));
        Operand bias = constant(floats(3));
        FlatTable conv = CONVOLUTION.with("padding", padding);
        String window = "stride_w stride_h dilation_w_factor dilation_h_factor";
        fields(window, "CONV_2D", conv, image, x, filter, bias);
        FlatTable depthwise = DEPTHWISE.with("padding", padding);
        Operand flat = constant(floats(1, 3, 3, 3));
        String multiplied = window + " depth_multiplier";
        fields(multiplied, "DEPTHWISE_CONV_2D", depthwise, image, x, flat, bias);
        FlatTable pool = POOL.with("padding", padding);
        for (String type : POOLS) {
            fields("stride_w stride_h filter_width filter_height", type, pool, image, x);
        }
        FlatTable conv3d =
                options("Conv3DOptions", "stride_d", 1, "stride_w", 1, "stride_h", 1)
                        .with("padding", padding);
        Form volume = floats(1, 4, 4, 4, 2);
        Operand cube = constant(floats(2, 2, 2, 2, 2));
        window = "stride_d stride_w dilation_d_factor dilation_h_factor";
        fields(window, "CONV_3D", conv3d, volume, data(volume), cube);
        FlatTable transposed =
                options("TransposeConvOptions", "stride_w", 2, "stride_h", 2, "padding", padding);
        Form large = floats(1, 16, 16, 3);
        Operand size = numbers(ints(4), 1, 16, 16, 3);
        fields("stride_w stride_h", "TRANSPOSE_CONV", transposed, large, size, filter, x);
        spoil("TRANSPOSE_CONV", transposed, large, size, filter, x);
    }

    private void slices() {
        Form shape = floats(1, 8);
        Operand row = data(shape);
        Form two = ints(2);
        Form out = floats(1, 3);
        spoil("SLICE", null, out, row, numbers(two, 0, 2), numbers(two, 1, 3));
        for (int[] column : new int[][] {{MAX, MAX}, {100, -1}, {4, -1}, {7, 2}, {-5, 8}}) {
            Operand begin = numbers(two, 0, column[0]);
            addBothWays("SLICE", null, out, row, begin, numbers(two, 1, column[1]));
        }
        FlatTable strided = options("StridedSliceOptions");
        Operand[] bounds = {row, numbers(two, 0, 2), numbers(two, 1, 6), numbers(two, 1, 2)};
        spoil("STRIDED_SLICE", strided, shape, bounds);
        String masks = "begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask";
        fields(masks, "STRIDED_SLICE", strided, shape, bounds);
        spoil("DYNAMIC_UPDATE_SLICE", null, shape, row, data(out), numbers(two, 0, 2));
        Form padded = floats(1, 10);
        Operand padding = numbers(ints(2, 2), 0, 0, 1, 1);
        spoil("PAD", null, padded, row, padding);
        spoil("MIRROR_PAD", options("MirrorPadOptions"), padded, row, padding);
        spoil("PADV2", null, padded, row, padding, constant(floats(1)));
        for (String type : List.of("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND")) {
            Operand block = numbers(two, 2, 2);
            Operand borders = numbers(ints(2, 2), 0, 0, 0, 0);
            spoil(type, null, floats(16, 4, 4, 1), data(floats(4, 8, 8, 1)), block, borders);
        }
    }

    private void shapes() {
        Operand row = data(floats(1, 8));
        Form two = ints(2);
        spoil("RESHAPE", null, floats(2, 4), row, numbers(two, 2, 4));
        spoil("TILE", null, floats(2, 16), row, numbers(two, 2, 2));
        spoil("BROADCAST_TO", null, floats(2, 8), row, numbers(two, 2, 8));
        spoil("FILL", null, floats(2, 8), numbers(two, 2, 8), data(floats()));
        for (int[] huge : new int[][] {{1 << 15, 1 << 15}, {1 << 16, 1 << 14}, {1 << 30, 1}}) {
            addBothWays("FILL", null, floats(1), numbers(two, huge), data(floats()));
            addBothWays("TILE", null, floats(1), data(floats(1, 1)), numbers(two, huge));
        }
        for (String type : RESIZES) {
            spoil(type, null, floats(1, 4, 4, 3), data(floats(1, 8, 8, 3)), numbers(two, 4, 4));
        }
        Form spectrum = Form.of(ElementType.COMPLEX64, 8, 5);
        spoil("RFFT2D", null, spectrum, data(floats(8, 8)), numbers(two, 8, 8));
        Form one = ints();
        spoil("RANGE", null, ints(5), numbers(one, 0), numbers(one, 10), numbers(one, 2));
        Operand count = numbers(one, 4);
        Operand indices = input(ints(3), 0, 1, 100);
        Operand value = constant(floats());
        FlatTable last = options("OneHotOptions", "axis", -1);
        spoil("ONE_HOT", last, floats(3, 4), indices, count, value, value);
        List<Operand> best = List.of(result(floats(1, 2)), result(ints(1, 2)));
        spoil("TOPK_V2", null, best, row, count);
        Form samples = Form.of(ElementType.INT64, 1, 4);
        spoil("MULTINOMIAL", options("RandomOptions"), samples, row, count);
        FlatTable seeds = options("RandomOptions", "seed", 1L, "seed2", 1L);
        spoil("RANDOM_UNIFORM", seeds, floats(2, 3), numbers(two, 2, 3));
    }

    private void axes() {
        Form shape = floats(2, 3, 4);
        Operand x = data(shape);
        Operand one = numbers(ints(1), 1);
        FlatTable reduce = options("ReducerOptions");
        for (String type : List.of("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN")) {
            spoil(type, reduce, floats(2, 4), x, one);
            spoil(type, reduce, floats(2), x, numbers(ints(2), 1, 2));
        }
        spoil("ARG_MAX", options("ArgMaxOptions", "output_type", 2), ints(2, 4), x, one);
        spoil("ARG_MIN", options("ArgMinOptions", "output_type", 2), ints(2, 4), x, one);
        spoil("EXPAND_DIMS", null, floats(2, 1, 3, 4), x, one);
        spoil("TRANSPOSE", null, floats(4, 3, 2), x, numbers(ints(3), 2, 1, 0));
        spoil("TRANSPOSE", null, floats(4, 3, 2), x, numbers(ints(3), 1, 1, 1));
        spoil("REVERSE_V2", null, shape, x, one);
        spoil("CUMSUM", options("CumsumOptions"), shape, x, numbers(ints(), 1));
        FlatTable halves = options("SplitOptions", "num_splits", 2);
        List<Operand> half = List.of(result(floats(2, 2)), result(floats(2, 2)));
        Operand whole = data(floats(2, 4));
        spoil("SPLIT", halves, half, numbers(ints(), 1), whole);
        fields("num_splits", "SPLIT", halves, half, numbers(ints(), 1), whole);
        List<Operand> parts = List.of(result(floats(2, 1)), result(floats(2, 3)));
        FlatTable split = options("SplitVOptions", "num_splits", 2);
        spoil("SPLIT_V", split, parts, whole, numbers(ints(2), 1, 3), numbers(ints(), 1));
    }

    private void indices() {
        Operand table = data(floats(4, 3));
        Operand rows = data(floats(2, 3));
        Form two = floats(2, 3);
        Form sums = floats(3, 3);
        Form batch = floats(2, 4, 3);
        Operand at = numbers(ints(2), 1, 2);
        Operand column = numbers(ints(2, 1), 1, 2);
        spoil("GATHER", options("GatherOptions"), two, table, at);
        spoil("GATHER_ND", null, two, table, column);
        spoil("EMBEDDING_LOOKUP", null, two, at, constant(floats(4, 3)));
        spoil("SEGMENT_SUM", null, sums, rows, at);
        for (String type : List.of("SUM", "MAX", "MIN", "PROD")) {
            Operand count = constant(ints(), content(3));
            spoil("UNSORTED_SEGMENT_" + type, null, sums, rows, at, count);
        }
        FlatTable reversed = options("ReverseSequenceOptions", "seq_dim", 1, "batch_dim", 0);
        spoil("REVERSE_SEQUENCE", reversed, batch, data(batch), at);
        spoil("SCATTER_ND", null, floats(4, 3), column, rows, numbers(ints(2), 4, 3));
        FlatTable dense = options("SparseToDenseOptions");
        Operand size = numbers(ints(1), 4);
        Operand none = constant(floats());
        spoil("SPARSE_TO_DENSE", dense, floats(4), at, size, data(floats(2)), none);
        Operand most = numbers(ints(), 3);
        Operand segments = constant(ints(2), content(0, 1));
        spoil("UNSORTED_SEGMENT_SUM", null, sums, rows, segments, most);
        Operand boxes = data(floats(6, 4));
        Operand scores = data(floats(6));
        Operand overlap = file -> file.model().floats(new int[] {}, 0.5f);
        Operand score = file -> file.model().floats(new int[] {}, 0.1f);
        List<Operand> results = List.of(result(ints(3)), result(ints()));
        spoil("NON_MAX_SUPPRESSION_V4", null, results, boxes, scores, most, overlap, score);
    }

    private void parameters() {
        Form image = floats(1, 8, 8, 4);
        Operand x = data(image);
        fields("block_size", "SPACE_TO_DEPTH", options("SpaceToDepthOptions"), image, x);
        fields("block_size", "DEPTH_TO_SPACE", options("DepthToSpaceOptions"), image, x);
        FlatTable concat = options("ConcatenationOptions");
        fields("axis", "CONCATENATION", concat, image, x, constant(image));
        FlatTable pack = options("PackOptions", "axis", 0, "values_count", 2);
        Operand rows = data(floats(2, 3));
        Operand others = constant(floats(2, 3));
        fields("axis values_count", "PACK", pack, floats(2, 2, 3), rows, others);
        List<Operand> halves = List.of(result(floats(3)), result(floats(3)));
        fields("axis", "UNPACK", options("UnpackOptions", "num", 2), halves, rows);
        fields("num", "UNPACK", options("UnpackOptions"), halves, rows);
        FlatTable gather = options("GatherOptions");
        Operand at = numbers(ints(2), 0, 1);
        fields("axis batch_dims", "GATHER", gather, floats(2, 3), data(floats(4, 3)), at);
        FlatTable reverse = options("ReverseSequenceOptions", "seq_dim", 1, "batch_dim", 0);
        Form batch = floats(2, 4, 3);
        Operand lengths = numbers(ints(2), 1, 2);
        fields("seq_dim batch_dim", "REVERSE_SEQUENCE", reverse, batch, data(batch), lengths);
        Operand indices = input(ints(3), 0, 1, 2);
        Operand on = constant(floats());
        FlatTable oneHot = options("OneHotOptions");
        fields("axis", "ONE_HOT", oneHot, floats(3, 4), indices, numbers(ints(), 4), on, on);
        FlatTable normalization =
                options("LocalResponseNormalizationOptions", "alpha", 1f, "beta", 0.5f, "bias", 1f);
        fields("radius", "LOCAL_RESPONSE_NORMALIZATION", normalization, image, x);
        FlatTable quantization = options("FakeQuantOptions", "min", -1f, "max", 1f);
        fields("num_bits", "FAKE_QUANT", quantization, image, x);
        Operand features = constant(floats(4, 3));
        Operand times = constant(floats(4, 5));
        Operand bias = constant(floats(4));
        Operand state = file -> file.model().state(2, 20);
        FlatTable svdf = options("SVDFOptions");
        fields("rank", "SVDF", svdf, floats(2, 4), rows, features, times, bias, state);
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

    private void divisors() {
        for (String type : List.of("DIV", "FLOOR_DIV", "FLOOR_MOD", "POW", "RIGHT_SHIFT", "MUL")) {
            FlatTable options =
                    switch (type) {
                        case "DIV" -> options("DivOptions");
                        case "MUL" -> options("MulOptions");
                        default -> null;
                    };
            Operand dividend = input(ints(2), MIN, 7);
            for (int value : NASTY) {
                addBothWays(type, options, ints(2), dividend, numbers(ints(2), value, value));
            }
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
        Operand begin = numbers(ints(2), 0, 2);
        Operand size = numbers(ints(2), 1, 3);
        spoil("IF", options, floats(1, 3), slices, data(floats(1, 8)), begin, size);
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
