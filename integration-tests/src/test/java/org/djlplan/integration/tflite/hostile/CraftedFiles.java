package org.djlplan.integration.tflite.hostile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.primitives.Ints;

/** Makes {@link CraftedFile}s: each operator with each of the numbers that break kernels. */
final class CraftedFiles {

    private static final int MAX = Integer.MAX_VALUE;
    private static final int MIN = Integer.MIN_VALUE;

    /** Values of sizes, strides and positions that are likely to break kernels. */
    private static final int[] NASTY = {0, -1, -5, 100, 100_000, 1 << 30, MAX, MIN};

    /** Scales with which integers stand for no real value. */
    private static final List<List<Float>> SCALES =
            List.of(
                    List.of(0f),
                    List.of(Float.NaN),
                    List.of(Float.POSITIVE_INFINITY),
                    List.of(-1f),
                    List.of(1e-40f),
                    List.of(1e-12f),
                    List.of(1e-8f),
                    List.of(1e-5f),
                    List.of(1e4f),
                    List.of(1e8f),
                    List.of(1e12f),
                    List.of(3e38f),
                    List.of());

    private static final List<List<Integer>> EMPTY_IMAGES =
            List.of(List.of(1, 0, 8, 3), List.of(0, 8, 8, 3), List.of(1, 8, 8, 0));

    private final List<CraftedFile> files = new ArrayList<>();

    private CraftedFiles() {}

    /** Returns all crafted files. */
    static List<CraftedFile> all() {
        CraftedFiles made = new CraftedFiles();
        made.windows();
        made.slices();
        made.shapes();
        made.axes();
        made.indices();
        made.parameters();
        made.arithmetic();
        made.quantized();
        made.empty();
        made.large();
        made.called();
        made.files.addAll(RefusedFiles.all());
        return ImmutableList.copyOf(made.files);
    }

    // ---- building blocks -------------------------------------------------------------------

    static Form floats(int... shape) {
        return Form.of(ElementType.FLOAT32, shape);
    }

    static Form ints(int... shape) {
        return Form.of(ElementType.INT32, shape);
    }

    static FlatTable options(String type, Object... fields) {
        FlatTable table = FlatTable.of(type);
        for (int i = 0; i < fields.length; i += 2) {
            table = table.with((String) fields[i], fields[i + 1]);
        }
        return table;
    }

    /** A model under construction, with the values of its inputs. */
    static final class Case {
        final ModelSketch model = new ModelSketch();
        private final List<ByteBuffer> inputs = new ArrayList<>();
        private final List<List<Integer>> shapes = new ArrayList<>();

        int data(Form form) {
            return input(form, random(form));
        }

        int input(Form form, ByteBuffer value) {
            return input(form, form.shape(), value);
        }

        /** An input that has another shape than in the file. */
        int input(Form form, List<Integer> shape, ByteBuffer value) {
            inputs.add(value);
            shapes.add(shape);
            return model.input(form);
        }

        int constant(Form form) {
            return model.constant(form, random(form));
        }

        /** Adds numbers, either to the file or as an input. */
        int numbers(boolean constant, Form form, int... values) {
            ByteBuffer content = content(values);
            return constant ? model.constant(form, content) : input(form, content);
        }

        CraftedFile end(
                String name, String operator, FlatTable options, Form out, int... operands) {
            model.output(model.operator(operator, Optional.ofNullable(options), out, operands));
            return file(operator + " " + name);
        }

        CraftedFile end(
                String name, String operator, FlatTable options, List<Form> out, int... operands) {
            List<Integer> results = out.stream().map(model::tensor).toList();
            model.operator(operator, Optional.ofNullable(options), results, operands);
            model.output(Ints.toArray(results));
            return file(operator + " " + name);
        }

        CraftedFile file(String name) {
            return new CraftedFile(name, model, inputs, shapes);
        }
    }

    static ByteBuffer content(int... values) {
        ByteBuffer content =
                ByteBuffer.allocate(Integer.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        content.asIntBuffer().put(values);
        return content;
    }

    static ByteBuffer random(Form form) {
        Random random = new Random(1);
        ByteBuffer content = ByteBuffer.allocate(form.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        while (content.remaining() >= Float.BYTES && form.type() == ElementType.FLOAT32) {
            content.putFloat(random.nextFloat());
        }
        while (content.hasRemaining()) {
            content.put((byte) (form.type() == ElementType.INT32 ? 0 : random.nextInt(8)));
        }
        return content.rewind();
    }

    /** Returns copies of a vector; in each copy, a nasty number replaces one element. */
    private static List<int[]> spoilt(int... good) {
        List<int[]> spoilt = new ArrayList<>();
        for (int i = 0; i < good.length; i++) {
            for (int value : NASTY) {
                int[] copy = good.clone();
                copy[i] = value;
                spoilt.add(copy);
            }
        }
        return spoilt;
    }

    static String text(boolean constant, int... values) {
        return (constant ? "constant " : "input ") + Arrays.toString(values);
    }

    /** Adds a model for each spoilt vector, in the file and as an input. */
    private void operand(
            String operator, FlatTable options, Form out, Form data, Form form, int... good) {
        operand(operator, options, out, data, form, false, good);
    }

    private void operand(
            String operator,
            FlatTable options,
            Form out,
            Form data,
            Form form,
            boolean first,
            int... good) {
        for (boolean constant : new boolean[] {true, false}) {
            for (int[] values : spoilt(good)) {
                Case c = new Case();
                int x = c.data(data);
                int y = c.numbers(constant, form, values);
                files.add(
                        c.end(
                                text(constant, values),
                                operator,
                                options,
                                out,
                                first ? y : x,
                                first ? x : y));
            }
        }
    }

    /** Adds a model for each field of the options and each nasty number. */
    private void fields(
            String operator,
            FlatTable good,
            List<String> names,
            Form out,
            Form data,
            Form... more) {
        for (String name : names) {
            for (int value : NASTY) {
                Case c = new Case();
                int[] operands = new int[1 + more.length];
                operands[0] = c.data(data);
                for (int i = 0; i < more.length; i++) {
                    operands[i + 1] = c.constant(more[i]);
                }
                files.add(
                        c.end(name + "=" + value, operator, good.with(name, value), out, operands));
            }
        }
    }

    // ---- kinds of operators ----------------------------------------------------------------

    private static final List<String> STRIDES = List.of("stride_w", "stride_h");
    private static final List<String> DILATIONS =
            List.of("stride_w", "stride_h", "dilation_w_factor", "dilation_h_factor");

    private void windows() {
        Form image = floats(1, 8, 8, 3);
        for (int padding : new int[] {0, 1}) {
            FlatTable conv = options("Conv2DOptions", "stride_w", 1, "stride_h", 1);
            conv = conv.with("padding", padding);
            fields("CONV_2D", conv, DILATIONS, image, image, floats(3, 3, 3, 3), floats(3));
            FlatTable depthwise =
                    options("DepthwiseConv2DOptions", "stride_w", 1, "stride_h", 1)
                            .with("depth_multiplier", 1)
                            .with("padding", padding);
            List<String> depthwiseFields = new ArrayList<>(DILATIONS);
            depthwiseFields.add("depth_multiplier");
            fields(
                    "DEPTHWISE_CONV_2D",
                    depthwise,
                    depthwiseFields,
                    image,
                    image,
                    floats(1, 3, 3, 3),
                    floats(3));
            FlatTable pool =
                    options("Pool2DOptions", "stride_w", 1, "stride_h", 1, "padding", padding)
                            .with("filter_width", 2)
                            .with("filter_height", 2);
            List<String> poolFields =
                    List.of("stride_w", "stride_h", "filter_width", "filter_height");
            for (String type : List.of("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D")) {
                fields(type, pool, poolFields, image, image);
            }
            FlatTable volume =
                    options("Conv3DOptions", "stride_d", 1, "stride_w", 1, "stride_h", 1)
                            .with("padding", padding);
            List<String> volumeFields =
                    List.of("stride_d", "stride_w", "dilation_d_factor", "dilation_h_factor");
            fields(
                    "CONV_3D",
                    volume,
                    volumeFields,
                    floats(1, 4, 4, 4, 2),
                    floats(1, 4, 4, 4, 2),
                    floats(2, 2, 2, 2, 2));
            transposed(padding);
            filters(conv, depthwise);
        }
    }

    private void transposed(int padding) {
        FlatTable good =
                options("TransposeConvOptions", "stride_w", 2, "stride_h", 2, "padding", padding);
        for (String name : STRIDES) {
            for (int value : NASTY) {
                transposed(name + "=" + value, good.with(name, value), true, 1, 16, 16, 3);
            }
        }
        for (boolean constant : new boolean[] {true, false}) {
            for (int[] shape : spoilt(1, 16, 16, 3)) {
                transposed(text(constant, shape), good, constant, shape);
            }
        }
    }

    private void transposed(String name, FlatTable options, boolean constant, int... shape) {
        Case c = new Case();
        int size = c.numbers(constant, ints(4), shape);
        int filter = c.constant(floats(3, 3, 3, 3));
        int image = c.data(floats(1, 8, 8, 3));
        files.add(
                c.end(name, "TRANSPOSE_CONV", options, floats(1, 16, 16, 3), size, filter, image));
    }

    /**
     * Adds models with filters that have no elements, are larger than the image, or have other
     * channels.
     */
    private void filters(FlatTable conv, FlatTable depthwise) {
        Form image = floats(1, 8, 8, 3);
        for (int[] size : new int[][] {{0, 0}, {0, 3}, {3, 0}, {100, 100}, {9, 1}}) {
            Case c = new Case();
            int x = c.data(image);
            int filter = c.constant(floats(3, size[0], size[1], 3));
            String name = "filter " + Arrays.toString(size) + " " + conv.intValue("padding");
            files.add(c.end(name, "CONV_2D", conv, image, x, filter, c.constant(floats(3))));
            c = new Case();
            x = c.data(image);
            filter = c.constant(floats(1, size[0], size[1], 3));
            files.add(
                    c.end(
                            name,
                            "DEPTHWISE_CONV_2D",
                            depthwise,
                            image,
                            x,
                            filter,
                            c.constant(floats(3))));
        }
        for (int channels : new int[] {0, 1, 2, 4, 5}) {
            for (int bias : new int[] {0, 1, 3, 100}) {
                Case c = new Case();
                int x = c.data(image);
                int filter = c.constant(floats(3, 3, 3, channels));
                String name = "channels " + channels + ", bias " + bias;
                files.add(c.end(name, "CONV_2D", conv, image, x, filter, c.constant(floats(bias))));
                c = new Case();
                x = c.data(image);
                filter = c.constant(floats(1, 3, 3, channels));
                files.add(
                        c.end(
                                name,
                                "DEPTHWISE_CONV_2D",
                                depthwise,
                                image,
                                x,
                                filter,
                                c.constant(floats(bias))));
            }
        }
    }

    private void slices() {
        Form row = floats(1, 8);
        for (boolean constant : new boolean[] {true, false}) {
            for (int[] all : spoilt(0, 2, 1, 3)) {
                slice(constant, all);
            }
            slice(constant, 0, MAX, 1, MAX);
            slice(constant, 0, 100, 1, -1);
            slice(constant, 0, 4, 1, -1);
            slice(constant, 0, 7, 1, 2);
            slice(constant, 0, -5, 1, 8);
            for (int[] all : spoilt(0, 2, 1, 6, 1, 2)) {
                Case c = new Case();
                int x = c.data(row);
                int begin = c.numbers(constant, ints(2), all[0], all[1]);
                int end = c.numbers(constant, ints(2), all[2], all[3]);
                int stride = c.numbers(constant, ints(2), all[4], all[5]);
                files.add(
                        c.end(
                                text(constant, all),
                                "STRIDED_SLICE",
                                options("StridedSliceOptions"),
                                row,
                                x,
                                begin,
                                end,
                                stride));
            }
            for (int[] all : spoilt(0, 2)) {
                Case c = new Case();
                int x = c.data(row);
                int update = c.data(floats(1, 3));
                int begin = c.numbers(constant, ints(2), all);
                files.add(
                        c.end(
                                text(constant, all),
                                "DYNAMIC_UPDATE_SLICE",
                                null,
                                row,
                                x,
                                update,
                                begin));
            }
        }
        for (String mask :
                List.of(
                        "begin_mask",
                        "end_mask",
                        "ellipsis_mask",
                        "new_axis_mask",
                        "shrink_axis_mask")) {
            for (int value : NASTY) {
                Case c = new Case();
                int x = c.data(row);
                int begin = c.numbers(true, ints(2), 0, 2);
                int end = c.numbers(true, ints(2), 1, 6);
                int stride = c.numbers(true, ints(2), 1, 2);
                files.add(
                        c.end(
                                mask + "=" + value,
                                "STRIDED_SLICE",
                                options("StridedSliceOptions", mask, value),
                                row,
                                x,
                                begin,
                                end,
                                stride));
            }
        }
        for (String pad : List.of("PAD", "PADV2", "MIRROR_PAD")) {
            for (boolean constant : new boolean[] {true, false}) {
                for (int[] values : spoilt(0, 0, 1, 1)) {
                    Case c = new Case();
                    int x = c.data(row);
                    int padding = c.numbers(constant, ints(2, 2), values);
                    FlatTable options =
                            pad.equals("MIRROR_PAD") ? options("MirrorPadOptions") : null;
                    int[] operands =
                            pad.equals("PADV2")
                                    ? new int[] {x, padding, c.constant(floats(1))}
                                    : new int[] {x, padding};
                    files.add(c.end(text(constant, values), pad, options, floats(1, 10), operands));
                }
            }
        }
        for (boolean constant : new boolean[] {true, false}) {
            for (String type : List.of("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND")) {
                for (int[] all : spoilt(2, 2, 0, 0, 0, 0)) {
                    Case c = new Case();
                    int x = c.data(floats(4, 8, 8, 1));
                    int block = c.numbers(constant, ints(2), all[0], all[1]);
                    int more = c.numbers(constant, ints(2, 2), all[2], all[3], all[4], all[5]);
                    files.add(
                            c.end(
                                    text(constant, all),
                                    type,
                                    null,
                                    floats(16, 4, 4, 1),
                                    x,
                                    block,
                                    more));
                }
            }
        }
    }

    private void slice(boolean constant, int... all) {
        Case c = new Case();
        int x = c.data(floats(1, 8));
        int begin = c.numbers(constant, ints(2), all[0], all[1]);
        int size = c.numbers(constant, ints(2), all[2], all[3]);
        files.add(c.end(text(constant, all), "SLICE", null, floats(1, 3), x, begin, size));
    }

    private void shapes() {
        Form row = floats(1, 8);
        operand("RESHAPE", null, floats(2, 4), row, ints(2), 2, 4);
        operand("TILE", null, floats(2, 16), row, ints(2), 2, 2);
        operand("BROADCAST_TO", null, floats(2, 8), row, ints(2), 2, 8);
        operand("FILL", null, floats(2, 8), floats(), ints(2), true, 2, 8);
        for (String type : List.of("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")) {
            operand(type, null, floats(1, 4, 4, 3), floats(1, 8, 8, 3), ints(2), 4, 4);
        }
        operand("RFFT2D", null, Form.of(ElementType.COMPLEX64, 8, 5), floats(8, 8), ints(2), 8, 8);
        for (boolean constant : new boolean[] {true, false}) {
            for (int[] values : spoilt(0, 10, 2)) {
                Case c = new Case();
                int[] operands = new int[3];
                for (int i = 0; i < 3; i++) {
                    operands[i] = c.numbers(constant, ints(), values[i]);
                }
                files.add(c.end(text(constant, values), "RANGE", null, ints(5), operands));
            }
            for (int depth : NASTY) {
                Case c = new Case();
                int indices = c.numbers(false, ints(3), 0, 1, 100);
                int size = c.numbers(constant, ints(), depth);
                int on = c.constant(floats());
                int off = c.constant(floats());
                files.add(
                        c.end(
                                text(constant, depth),
                                "ONE_HOT",
                                options("OneHotOptions", "axis", -1),
                                floats(3, 4),
                                indices,
                                size,
                                on,
                                off));
                c = new Case();
                int data = c.data(row);
                files.add(
                        c.end(
                                text(constant, depth),
                                "TOPK_V2",
                                null,
                                List.of(floats(1, 2), ints(1, 2)),
                                data,
                                c.numbers(constant, ints(), depth)));
                c = new Case();
                data = c.data(row);
                files.add(
                        c.end(
                                text(constant, depth),
                                "MULTINOMIAL",
                                options("RandomOptions"),
                                Form.of(ElementType.INT64, 1, 4),
                                data,
                                c.numbers(constant, ints(), depth)));
            }
            for (int[] shape : spoilt(2, 3)) {
                Case c = new Case();
                int size = c.numbers(constant, ints(2), shape);
                files.add(
                        c.end(
                                text(constant, shape),
                                "RANDOM_UNIFORM",
                                options("RandomOptions", "seed", 1L, "seed2", 1L),
                                floats(2, 3),
                                size));
            }
        }
    }

    private void axes() {
        Form data = floats(2, 3, 4);
        for (String type : List.of("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN")) {
            operand(type, options("ReducerOptions"), floats(2, 4), data, ints(1), 1);
            operand(type, options("ReducerOptions"), floats(2), data, ints(2), 1, 2);
        }
        for (String type : List.of("ARG_MAX", "ARG_MIN")) {
            String table = type.equals("ARG_MAX") ? "ArgMaxOptions" : "ArgMinOptions";
            operand(type, options(table, "output_type", 2), ints(2, 4), data, ints(1), 1);
        }
        operand("EXPAND_DIMS", null, floats(2, 1, 3, 4), data, ints(1), 1);
        operand("TRANSPOSE", null, floats(4, 3, 2), data, ints(3), 2, 1, 0);
        operand("TRANSPOSE", null, floats(4, 3, 2), data, ints(3), 1, 1, 1);
        operand("REVERSE_V2", null, data, data, ints(1), 1);
        operand("CUMSUM", options("CumsumOptions"), data, data, ints(), 1);
        for (boolean constant : new boolean[] {true, false}) {
            for (int axis : NASTY) {
                Case c = new Case();
                int dimension = c.numbers(constant, ints(), axis);
                int x = c.data(floats(2, 4));
                files.add(
                        c.end(
                                "axis " + text(constant, axis),
                                "SPLIT",
                                options("SplitOptions", "num_splits", 2),
                                List.of(floats(2, 2), floats(2, 2)),
                                dimension,
                                x));
            }
            for (int[] all : spoilt(1, 3, 1)) {
                Case c = new Case();
                int x = c.data(floats(2, 4));
                int sizes = c.numbers(constant, ints(2), all[0], all[1]);
                int axis = c.numbers(constant, ints(), all[2]);
                files.add(
                        c.end(
                                text(constant, all),
                                "SPLIT_V",
                                options("SplitVOptions", "num_splits", 2),
                                List.of(floats(2, 1), floats(2, 3)),
                                x,
                                sizes,
                                axis));
            }
        }
        for (int value : NASTY) {
            Case c = new Case();
            int axis = c.numbers(true, ints(), 1);
            int x = c.data(floats(2, 4));
            files.add(
                    c.end(
                            "num_splits=" + value,
                            "SPLIT",
                            options("SplitOptions", "num_splits", value),
                            List.of(floats(2, 2), floats(2, 2)),
                            axis,
                            x));
        }
    }

    private void indices() {
        Form table = floats(4, 3);
        for (boolean constant : new boolean[] {true, false}) {
            for (int[] values : spoilt(1, 2)) {
                Case c = new Case();
                int x = c.data(table);
                int at = c.numbers(constant, ints(2), values);
                files.add(
                        c.end(
                                text(constant, values),
                                "GATHER",
                                options("GatherOptions"),
                                floats(2, 3),
                                x,
                                at));
                c = new Case();
                x = c.data(table);
                at = c.numbers(constant, ints(2, 1), values);
                files.add(c.end(text(constant, values), "GATHER_ND", null, floats(2, 3), x, at));
                c = new Case();
                at = c.numbers(constant, ints(2), values);
                x = c.constant(table);
                files.add(
                        c.end(
                                text(constant, values),
                                "EMBEDDING_LOOKUP",
                                null,
                                floats(2, 3),
                                at,
                                x));
                c = new Case();
                x = c.data(floats(2, 3));
                at = c.numbers(constant, ints(2), values);
                files.add(c.end(text(constant, values), "SEGMENT_SUM", null, floats(3, 3), x, at));
                for (String type : List.of("SUM", "MAX", "MIN", "PROD")) {
                    c = new Case();
                    x = c.data(floats(2, 3));
                    at = c.numbers(constant, ints(2), values);
                    int count = c.numbers(true, ints(), 3);
                    files.add(
                            c.end(
                                    text(constant, values),
                                    "UNSORTED_SEGMENT_" + type,
                                    null,
                                    floats(3, 3),
                                    x,
                                    at,
                                    count));
                }
                c = new Case();
                x = c.data(floats(2, 4, 3));
                at = c.numbers(constant, ints(2), values);
                files.add(
                        c.end(
                                text(constant, values),
                                "REVERSE_SEQUENCE",
                                options("ReverseSequenceOptions", "seq_dim", 1, "batch_dim", 0),
                                floats(2, 4, 3),
                                x,
                                at));
            }
            for (int[] values : spoilt(1, 2, 4, 3)) {
                Case c = new Case();
                int at = c.numbers(constant, ints(2, 1), values[0], values[1]);
                int x = c.data(floats(2, 3));
                int shape = c.numbers(constant, ints(2), values[2], values[3]);
                files.add(
                        c.end(
                                text(constant, values),
                                "SCATTER_ND",
                                null,
                                floats(4, 3),
                                at,
                                x,
                                shape));
            }
            for (int[] values : spoilt(1, 2, 4)) {
                Case c = new Case();
                int at = c.numbers(constant, ints(2), values[0], values[1]);
                int shape = c.numbers(constant, ints(1), values[2]);
                int x = c.data(floats(2));
                int rest = c.constant(floats());
                files.add(
                        c.end(
                                text(constant, values),
                                "SPARSE_TO_DENSE",
                                options("SparseToDenseOptions"),
                                floats(4),
                                at,
                                shape,
                                x,
                                rest));
            }
            for (int value : NASTY) {
                Case c = new Case();
                int x = c.data(floats(2, 3));
                int at = c.numbers(true, ints(2), 0, 1);
                int count = c.numbers(constant, ints(), value);
                files.add(
                        c.end(
                                "segments " + text(constant, value),
                                "UNSORTED_SEGMENT_SUM",
                                null,
                                floats(3, 3),
                                x,
                                at,
                                count));
                c = new Case();
                int boxes = c.data(floats(6, 4));
                int scores = c.data(floats(6));
                int most = c.numbers(constant, ints(), value);
                int overlap = c.model.floats(new int[] {}, 0.5f);
                int threshold = c.model.floats(new int[] {}, 0.1f);
                files.add(
                        c.end(
                                text(constant, value),
                                "NON_MAX_SUPPRESSION_V4",
                                null,
                                List.of(ints(3), ints()),
                                boxes,
                                scores,
                                most,
                                overlap,
                                threshold));
            }
        }
    }

    private void parameters() {
        Form image = floats(1, 8, 8, 4);
        fields(
                "SPACE_TO_DEPTH",
                options("SpaceToDepthOptions"),
                List.of("block_size"),
                image,
                image);
        fields(
                "DEPTH_TO_SPACE",
                options("DepthToSpaceOptions"),
                List.of("block_size"),
                image,
                image);
        fields(
                "CONCATENATION",
                options("ConcatenationOptions"),
                List.of("axis"),
                image,
                image,
                image);
        fields(
                "PACK",
                options("PackOptions", "axis", 0, "values_count", 2),
                List.of("axis", "values_count"),
                floats(2, 2, 3),
                floats(2, 3),
                floats(2, 3));
        for (String name : List.of("axis", "num")) {
            for (int value : NASTY) {
                Case c = new Case();
                int x = c.data(floats(2, 3));
                files.add(
                        c.end(
                                name + "=" + value,
                                "UNPACK",
                                options("UnpackOptions", "num", 2).with(name, value),
                                List.of(floats(3), floats(3)),
                                x));
            }
        }
        for (int value : NASTY) {
            Case c = new Case();
            int x = c.data(floats(1, 8));
            files.add(
                    c.end(
                            "squeeze_dims=" + value,
                            "SQUEEZE",
                            options("SqueezeOptions", "squeeze_dims", ImmutableList.of(value)),
                            floats(8),
                            x));
            c = new Case();
            x = c.data(floats(1, 8));
            files.add(
                    c.end(
                            "new_shape=" + value,
                            "RESHAPE",
                            options("ReshapeOptions", "new_shape", ImmutableList.of(2, value)),
                            floats(2, 4),
                            x));
            for (String name : List.of("axis", "batch_dims")) {
                c = new Case();
                x = c.data(floats(4, 3));
                int at = c.numbers(true, ints(2), 0, 1);
                files.add(
                        c.end(
                                name + "=" + value,
                                "GATHER",
                                options("GatherOptions", name, value),
                                floats(2, 3),
                                x,
                                at));
            }
            for (String name : List.of("seq_dim", "batch_dim")) {
                c = new Case();
                x = c.data(floats(2, 4, 3));
                int at = c.numbers(true, ints(2), 1, 2);
                files.add(
                        c.end(
                                name + "=" + value,
                                "REVERSE_SEQUENCE",
                                options("ReverseSequenceOptions", "seq_dim", 1, "batch_dim", 0)
                                        .with(name, value),
                                floats(2, 4, 3),
                                x,
                                at));
            }
            c = new Case();
            x = c.numbers(false, ints(3), 0, 1, 2);
            int depth = c.numbers(true, ints(), 4);
            int on = c.constant(floats());
            files.add(
                    c.end(
                            "axis=" + value,
                            "ONE_HOT",
                            options("OneHotOptions", "axis", value),
                            floats(3, 4),
                            x,
                            depth,
                            on,
                            on));
            c = new Case();
            x = c.data(image);
            files.add(
                    c.end(
                            "radius=" + value,
                            "LOCAL_RESPONSE_NORMALIZATION",
                            options("LocalResponseNormalizationOptions", "radius", value)
                                    .with("alpha", 1f)
                                    .with("beta", 0.5f)
                                    .with("bias", 1f),
                            image,
                            x));
            c = new Case();
            x = c.data(image);
            files.add(
                    c.end(
                            "num_bits=" + value,
                            "FAKE_QUANT",
                            options("FakeQuantOptions", "num_bits", value, "min", -1f, "max", 1f),
                            image,
                            x));
            svdf(value);
        }
        for (float beta : new float[] {0, Float.NaN, -1, Float.POSITIVE_INFINITY}) {
            Case c = new Case();
            int x = c.data(floats(1, 8));
            files.add(
                    c.end(
                            "beta=" + beta,
                            "SOFTMAX",
                            options("SoftmaxOptions", "beta", beta),
                            floats(1, 8),
                            x));
        }
        for (int[] weights :
                new int[][] {{4, 8}, {4, 0}, {0, 8}, {4, 3}, {4, 16}, {0, 0}, {1, 1}}) {
            for (int bias : new int[] {4, 0, 1, 100}) {
                Case c = new Case();
                int x = c.data(floats(1, 8));
                int w = c.constant(floats(weights));
                files.add(
                        c.end(
                                Arrays.toString(weights) + ", bias " + bias,
                                "FULLY_CONNECTED",
                                options("FullyConnectedOptions"),
                                floats(1, 4),
                                x,
                                w,
                                c.constant(floats(bias))));
            }
        }
        for (int[] other : new int[][] {{8, 4}, {0, 4}, {8, 0}, {7, 4}, {4, 8}, {2, 8, 4}, {8}}) {
            Case c = new Case();
            int x = c.data(floats(1, 8));
            files.add(
                    c.end(
                            Arrays.toString(other),
                            "BATCH_MATMUL",
                            options("BatchMatMulOptions"),
                            floats(1, 4),
                            x,
                            c.data(floats(other))));
        }
    }

    private void svdf(int rank) {
        Case c = new Case();
        int x = c.data(floats(2, 3));
        int feature = c.constant(floats(4, 3));
        int time = c.constant(floats(4, 5));
        int bias = c.constant(floats(4));
        int state = c.model.state(2, 20);
        files.add(
                c.end(
                        "rank=" + rank,
                        "SVDF",
                        options("SVDFOptions", "rank", rank),
                        floats(2, 4),
                        x,
                        feature,
                        time,
                        bias,
                        state));
    }

    private void arithmetic() {
        for (String type : List.of("DIV", "FLOOR_DIV", "FLOOR_MOD", "POW", "RIGHT_SHIFT", "MUL")) {
            String table = Map.of("DIV", "DivOptions", "MUL", "MulOptions").getOrDefault(type, "");
            for (int divisor : NASTY) {
                for (boolean constant : new boolean[] {true, false}) {
                    Case c = new Case();
                    int x = c.numbers(false, ints(2), MIN, 7);
                    int y = c.numbers(constant, ints(2), divisor, divisor);
                    files.add(
                            c.end(
                                    text(constant, divisor),
                                    type,
                                    table.isEmpty() ? null : options(table),
                                    ints(2),
                                    x,
                                    y));
                }
            }
        }
    }

    private static final ImmutableMap<String, String> QUANTIZED_BINARY =
            ImmutableMap.of(
                    "ADD", "AddOptions",
                    "SUB", "SubOptions",
                    "MUL", "MulOptions",
                    "SQUARED_DIFFERENCE", "",
                    "MAXIMUM", "",
                    "PRELU", "",
                    "LESS", "",
                    "EQUAL", "",
                    "CONCATENATION", "ConcatenationOptions");

    private static final ImmutableMap<String, String> QUANTIZED_UNARY =
            ImmutableMap.ofEntries(
                    Map.entry("LOGISTIC", ""),
                    Map.entry("TANH", ""),
                    Map.entry("RELU", ""),
                    Map.entry("RELU6", ""),
                    Map.entry("LEAKY_RELU", "LeakyReluOptions"),
                    Map.entry("HARD_SWISH", ""),
                    Map.entry("ELU", ""),
                    Map.entry("EXP", ""),
                    Map.entry("LOG", ""),
                    Map.entry("ABS", ""),
                    Map.entry("RSQRT", ""),
                    Map.entry("GELU", "GeluOptions"),
                    Map.entry("SOFTMAX", "SoftmaxOptions"),
                    Map.entry("LOG_SOFTMAX", ""),
                    Map.entry("L2_NORMALIZATION", "L2NormOptions"),
                    Map.entry("QUANTIZE", ""),
                    Map.entry("DEQUANTIZE", ""),
                    Map.entry("RESHAPE", ""));

    private void quantized() {
        for (ElementType type : List.of(ElementType.INT8, ElementType.UINT8, ElementType.INT16)) {
            for (List<Float> scales : SCALES) {
                for (int spoilt = 0; spoilt < 3; spoilt++) {
                    int at = spoilt;
                    QUANTIZED_BINARY.forEach(
                            (operator, table) -> quantized(operator, table, type, scales, at, 2));
                    if (at != 1) {
                        QUANTIZED_UNARY.forEach(
                                (operator, table) ->
                                        quantized(operator, table, type, scales, at, 1));
                    }
                }
                if (type == ElementType.INT8) {
                    convolution(scales);
                }
            }
        }
    }

    /**
     * @param spoilt which tensor has bad scales: 0 or 1 for an operand, 2 for the result
     */
    private void quantized(
            String operator,
            String table,
            ElementType type,
            List<Float> scales,
            int spoilt,
            int operands) {
        boolean fromFloat = operator.equals("QUANTIZE");
        boolean toFloat = operator.equals("DEQUANTIZE");
        if ((fromFloat && spoilt == 0) || (toFloat && spoilt == 2)) {
            return;
        }
        Form good = Form.of(type, 1, 8).scaled(0.1f, 0);
        Case c = new Case();
        int[] ids = new int[operands];
        for (int i = 0; i < operands; i++) {
            Form form = fromFloat ? floats(1, 8) : good;
            ids[i] = spoilt == i ? c.model.input(good, scales) : c.model.input(form);
            c.inputs.add(random(form));
            c.shapes.add(form.shape());
        }
        Form result = toFloat ? floats(1, 8) : good;
        if (operator.equals("LESS") || operator.equals("EQUAL")) {
            result = Form.of(ElementType.BOOL, 1, 8);
        }
        int out = spoilt == 2 ? c.model.tensor(good, scales) : c.model.tensor(result);
        c.model.operator(
                operator,
                table.isEmpty() ? Optional.empty() : Optional.of(options(table)),
                List.of(out),
                ids);
        c.model.output(out);
        String name = operator + " " + type + " " + spoilt + " " + scales;
        files.add(new CraftedFile(name, c.model, c.inputs, c.shapes));
    }

    private void convolution(List<Float> scales) {
        UnaryOperator<Form> quantize = form -> form.scaled(0.1f, 0);
        for (String operator : List.of("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")) {
            for (int spoilt = 0; spoilt < 4; spoilt++) {
                boolean full = operator.equals("FULLY_CONNECTED");
                boolean depthwise = operator.equals("DEPTHWISE_CONV_2D");
                Form image =
                        quantize.apply(
                                full
                                        ? Form.of(ElementType.INT8, 1, 8)
                                        : Form.of(ElementType.INT8, 1, 4, 4, 2));
                Form weights =
                        quantize.apply(
                                full
                                        ? Form.of(ElementType.INT8, 2, 8)
                                        : depthwise
                                                ? Form.of(ElementType.INT8, 1, 2, 2, 2)
                                                : Form.of(ElementType.INT8, 2, 2, 2, 2));
                Form bias = ints(2).scaled(0.01f, 0);
                Case c = new Case();
                int x = spoilt == 0 ? c.model.input(image, scales) : c.model.input(image);
                c.inputs.add(random(image));
                c.shapes.add(image.shape());
                int w =
                        spoilt == 1
                                ? c.model.constant(weights, scales, 0, random(weights))
                                : c.constant(weights);
                int b =
                        spoilt == 3
                                ? c.model.constant(bias, scales, 0, random(bias))
                                : c.constant(bias);
                int out = spoilt == 2 ? c.model.tensor(image, scales) : c.model.tensor(image);
                FlatTable options =
                        full
                                ? options("FullyConnectedOptions")
                                : depthwise
                                        ? options(
                                                "DepthwiseConv2DOptions",
                                                "stride_w",
                                                1,
                                                "stride_h",
                                                1,
                                                "depth_multiplier",
                                                1)
                                        : options("Conv2DOptions", "stride_w", 1, "stride_h", 1);
                c.model.operator(operator, Optional.of(options), List.of(out), x, w, b);
                c.model.output(out);
                files.add(
                        new CraftedFile(
                                operator + " int8 " + spoilt + " " + scales,
                                c.model,
                                c.inputs,
                                c.shapes));
            }
        }
    }

    /** Adds empty tensors as operands of operators that divide by the number of elements. */
    private void empty() {
        for (List<Integer> shape : EMPTY_IMAGES) {
            Form image = floats(Ints.toArray(shape));
            FlatTable pool =
                    options("Pool2DOptions", "stride_w", 1, "stride_h", 1)
                            .with("filter_width", 2)
                            .with("filter_height", 2);
            for (String type : List.of("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D")) {
                unary(type, pool, image);
            }
            for (String type :
                    List.of("RELU", "LOG_SOFTMAX", "EXP", "LOGISTIC", "HARD_SWISH", "NEG")) {
                unary(type, null, image);
            }
            unary("SOFTMAX", options("SoftmaxOptions", "beta", 1f), image);
            unary("L2_NORMALIZATION", options("L2NormOptions"), image);
            unary(
                    "LOCAL_RESPONSE_NORMALIZATION",
                    options("LocalResponseNormalizationOptions", "radius", 1),
                    image);
            unary("SPACE_TO_DEPTH", options("SpaceToDepthOptions", "block_size", 2), image);
            unary("DEPTH_TO_SPACE", options("DepthToSpaceOptions", "block_size", 2), image);
            unary(
                    "RESHAPE",
                    options("ReshapeOptions", "new_shape", ImmutableList.of(-1, 3)),
                    image);
            unary(
                    "RESHAPE",
                    options("ReshapeOptions", "new_shape", ImmutableList.of(-1, 0)),
                    image);
            for (String type : List.of("MEAN", "SUM", "REDUCE_MAX", "REDUCE_PROD")) {
                Case c = new Case();
                int x = c.data(image);
                files.add(
                        c.end(
                                "of " + shape,
                                type,
                                options("ReducerOptions"),
                                floats(1, 3),
                                x,
                                c.model.ints(1, 2)));
            }
            for (String type : List.of("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")) {
                Case c = new Case();
                int x = c.data(image);
                files.add(c.end("of " + shape, type, null, floats(1, 3), x, c.model.ints(4, 4)));
            }
            Case c = new Case();
            int x = c.data(image);
            int w = c.constant(floats(4, 8));
            files.add(
                    c.end(
                            "of " + shape,
                            "FULLY_CONNECTED",
                            options("FullyConnectedOptions"),
                            floats(1, 4),
                            x,
                            w,
                            c.constant(floats(4))));
            c = new Case();
            x = c.data(image);
            w = c.constant(floats(3, 3, 3, image.shape().get(3)));
            files.add(
                    c.end(
                            "of " + shape,
                            "CONV_2D",
                            options("Conv2DOptions", "stride_w", 1, "stride_h", 1),
                            floats(1, 4),
                            x,
                            w,
                            c.constant(floats(3))));
            for (String type : List.of("ARG_MAX", "TOPK_V2", "GATHER", "CUMSUM")) {
                c = new Case();
                x = c.data(image);
                Form result = type.equals("ARG_MAX") ? ints(1) : floats(1);
                FlatTable options =
                        Map.of(
                                        "ARG_MAX", options("ArgMaxOptions", "output_type", 2),
                                        "TOPK_V2", options("TopKV2Options"),
                                        "GATHER", options("GatherOptions"),
                                        "CUMSUM", options("CumsumOptions"))
                                .get(type);
                List<Form> results =
                        type.equals("TOPK_V2") ? List.of(floats(1), ints(1)) : List.of(result);
                files.add(
                        c.end(
                                "of " + shape,
                                type,
                                options,
                                results,
                                x,
                                c.numbers(true, ints(), 1)));
            }
        }
    }

    private void unary(String type, FlatTable options, Form form) {
        Case c = new Case();
        int x = c.data(form);
        files.add(c.end("of " + form.shape(), type, options, form, x));
    }

    /** Adds inputs that are too large for any machine. */
    private void large() {
        for (List<Integer> shape :
                List.of(
                        List.of(MAX),
                        List.of(1, 1 << 29),
                        List.of(1 << 20, 1 << 20),
                        List.of(1 << 16, 1 << 16, 1 << 16, 1 << 16))) {
            Case c = new Case();
            Form form = floats(Ints.toArray(shape));
            c.inputs.add(ByteBuffer.allocate(4));
            c.shapes.add(shape);
            files.add(c.end("of " + shape, "RELU", null, form, c.model.input(form)));
        }
        for (int[] size : new int[][] {{1 << 15, 1 << 15}, {1 << 16, 1 << 14}, {1 << 30, 1}}) {
            for (boolean constant : new boolean[] {true, false}) {
                Case c = new Case();
                int shape = c.numbers(constant, ints(2), size);
                int value = c.data(floats());
                files.add(c.end(text(constant, size), "FILL", null, floats(1), shape, value));
                c = new Case();
                int x = c.data(floats(1, 1));
                shape = c.numbers(constant, ints(2), size);
                files.add(c.end(text(constant, size), "TILE", null, floats(1), x, shape));
            }
        }
    }

    /** Adds models that call a graph with a slice or a convolution. */
    private void called() {
        for (int[] all : spoilt(0, 2, 1, 3)) {
            Case c = new Case();
            int condition = c.model.constant(Form.of(ElementType.BOOL), ByteBuffer.allocate(1));
            int[] operands = {
                condition,
                c.data(floats(1, 8)),
                c.numbers(false, ints(2), all[0], all[1]),
                c.numbers(false, ints(2), all[2], all[3])
            };
            for (String name : List.of("then", "else")) {
                ModelSketch graph = c.model.subgraph(name);
                int x = graph.input(floats(1, 8));
                int begin = graph.input(ints(2));
                int size = graph.input(ints(2));
                graph.output(
                        graph.operator("SLICE", Optional.empty(), floats(1, 3), x, begin, size));
            }
            files.add(
                    c.end(
                            "of slices " + Arrays.toString(all),
                            "IF",
                            BRANCHES,
                            floats(1, 3),
                            operands));
        }
        for (int side : new int[] {0, 1, 2, 3}) {
            Case c = new Case();
            int condition = c.model.constant(Form.of(ElementType.BOOL), ByteBuffer.allocate(1));
            int x = c.data(floats(1, side, side, 3));
            for (String name : List.of("then", "else")) {
                ModelSketch graph = c.model.subgraph(name);
                int image = graph.input(floats(1, 8, 8, 3));
                Form filter = floats(3, 3, 3, 3);
                graph.output(
                        graph.operator(
                                "CONV_2D",
                                Optional.of(
                                        options("Conv2DOptions", "stride_w", 1, "stride_h", 1)
                                                .with("padding", 1)),
                                floats(1, 6, 6, 3),
                                image,
                                graph.constant(filter, random(filter)),
                                graph.floats(new int[] {3}, 0, 0, 0)));
            }
            files.add(
                    c.end(
                            "of convolutions of " + side,
                            "IF",
                            BRANCHES,
                            floats(1, 6, 6, 3),
                            condition,
                            x));
        }
    }

    private static final FlatTable BRANCHES =
            options("IfOptions", "then_subgraph_index", 1, "else_subgraph_index", 2);
}
