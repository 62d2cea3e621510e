package org.djlplan.memplan.internal.slicing;

import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedMap;

/**
 * A plain convolution or fully connected layer of 32-bit floats with constant weights, for one
 * image. A fully connected layer is a convolution with one place.
 *
 * @param operator index in the main graph
 * @param convolution whether it is {@code CONV_2D} instead of {@code FULLY_CONNECTED}
 * @param input index of the input
 * @param filter index of the weights: output channels first
 * @param bias index of the bias, {@link TfLiteOperator#ABSENT} if there is none
 * @param output index of the output
 * @param in size of the input
 * @param out size of the output
 * @param window the window of the input from which the layer computes one output
 */
record Layer(
        int operator,
        boolean convolution,
        int input,
        int filter,
        int bias,
        int output,
        Size in,
        Size out,
        Window window) {

    /** Numbers of the format. */
    static final int SAME = 0;

    static final int VALID = 1;

    /** Rows, columns and channels of an image. */
    record Size(int height, int width, int channels) {

        long bytes() {
            return (long) height * rowBytes();
        }

        long rowBytes() {
            return (long) width * channels * Float.BYTES;
        }

        int places() {
            return Math.multiplyExact(height, width);
        }
    }

    /**
     * The part of the input from which a layer computes one output.
     *
     * @param height rows of the kernel
     * @param width columns of the kernel
     * @param strideHeight rows from one output to the next
     * @param strideWidth columns from one output to the next
     * @param padded whether the input is padded with zeros ({@code SAME})
     */
    record Window(int height, int width, int strideHeight, int strideWidth, boolean padded) {

        private static final Window ONE_PLACE = new Window(1, 1, 1, 1, false);

        private int outputs(int in, int kernel, int stride) {
            return padded ? (in - 1) / stride + 1 : in < kernel ? 0 : (in - kernel) / stride + 1;
        }

        /** Returns the number of zeros on both sides, half of them, rounded down, on the first. */
        private int padding(int in, int out, int kernel, int stride) {
            return padded ? Math.max(0, (out - 1) * stride + kernel - in) : 0;
        }
    }

    /** Returns the bytes of the weights of one output channel. */
    long channelBytes() {
        return (long) depth() * Float.BYTES;
    }

    /** Returns the number of products per output. */
    int depth() {
        return window.height() * window.width() * in.channels();
    }

    /**
     * Returns whether the input itself is the matrix to multiply, so that no patches are copied.
     */
    boolean isPointwise() {
        return window.equals(new Window(1, 1, 1, 1, window.padded()));
    }

    /**
     * Returns the bytes of the patches that one thread copies from the input for some output rows.
     */
    long patchBytes(int rows) {
        return isPointwise() ? 0 : (long) rows * out.width() * channelBytes();
    }

    /** Returns the input row with which an output row begins, negative in the padding above. */
    int firstInputRow(int outputRow) {
        int padding =
                window.padding(in.height(), out.height(), window.height(), window.strideHeight());
        return outputRow * window.strideHeight() - padding / 2;
    }

    /** Returns the columns of zeros on the left. */
    int paddingLeft() {
        return paddingOfRows() / 2;
    }

    /** Returns the columns of zeros on the right. */
    int paddingRight() {
        return paddingOfRows() - paddingLeft();
    }

    private int paddingOfRows() {
        return window.padding(in.width(), out.width(), window.width(), window.strideWidth());
    }

    /** Returns the operators of the main graph that are such layers, by index. */
    static ImmutableSortedMap<Integer, Layer> all(TfLiteFile file) {
        BitSet fixed = FixedShapes.of(file);
        ImmutableSortedMap.Builder<Integer, Layer> layers = ImmutableSortedMap.naturalOrder();
        for (int i = 0; i < file.main().operators().size(); i++) {
            int index = i;
            of(file, i)
                    .filter(layer -> fixed.get(layer.output()))
                    .ifPresent(layer -> layers.put(index, layer));
        }
        return layers.buildOrThrow();
    }

    private static Optional<Layer> of(TfLiteFile file, int operator) {
        TfLiteOperator node = file.main().operators().get(operator);
        int inputs = node.inputs().size();
        if ((inputs != 2 && inputs != 3) || node.outputs().size() != 1) {
            return Optional.empty();
        }
        int bias = inputs == 3 ? node.inputs().get(2) : TfLiteOperator.ABSENT;
        int input = node.inputs().get(0);
        int filter = node.inputs().get(1);
        int output = node.outputs().get(0);
        if (!isPlain(file, input)
                || !isPlain(file, output)
                || !isWeights(file, filter)
                || (bias != TfLiteOperator.ABSENT && !isWeights(file, bias))) {
            return Optional.empty();
        }
        Optional<Layer> layer =
                switch (file.codeOf(node).name()) {
                    case "CONV_2D" ->
                            convolution(file.main(), operator, input, filter, bias, output);
                    case "FULLY_CONNECTED" ->
                            fullyConnected(file.main(), operator, input, filter, bias, output);
                    default -> Optional.empty();
                };
        return layer.filter(found -> fits(file.main(), found));
    }

    /** Returns whether the size is known and fixed, except possibly for the number of images. */
    private static boolean isPlain(TfLiteFile file, int id) {
        if (id == TfLiteOperator.ABSENT) {
            return false;
        }
        TfLiteTensor tensor = file.main().tensors().get(id);
        List<Integer> signature = tensor.shapeSignature();
        return tensor.typeCode() == TfLiteTensor.FLOAT32
                && !tensor.isVariable()
                && !tensor.shape().isEmpty()
                && tensor.shape().stream().allMatch(size -> size > 0)
                && tensor.sizeBytes() <= Integer.MAX_VALUE
                && (signature.isEmpty() || !signature.subList(1, signature.size()).contains(-1))
                && tensor.sparsity().isEmpty();
    }

    private static boolean isWeights(TfLiteFile file, int id) {
        return isPlain(file, id) && file.isConstant(file.main().tensors().get(id));
    }

    private static Optional<Layer> convolution(
            TfLiteSubgraph graph, int operator, int input, int filter, int bias, int output) {
        List<Integer> in = graph.tensors().get(input).shape();
        List<Integer> out = graph.tensors().get(output).shape();
        List<Integer> weights = graph.tensors().get(filter).shape();
        Optional<FlatTable> options = graph.operators().get(operator).builtinOptions();
        if (in.size() != 4 || out.size() != 4 || weights.size() != 4 || options.isEmpty()) {
            return Optional.empty();
        }
        FlatTable table = options.get();
        if (in.get(0) != 1
                || out.get(0) != 1
                || !table.type().equals("Conv2DOptions")
                || table.intValue("dilation_h_factor") != 1
                || table.intValue("dilation_w_factor") != 1
                || table.intValue("stride_h") < 1
                || table.intValue("stride_w") < 1
                || !List.of(SAME, VALID).contains(table.intValue("padding"))
                || !weights.get(0).equals(out.get(3))
                || !weights.get(3).equals(in.get(3))) {
            return Optional.empty();
        }
        return Optional.of(
                new Layer(
                        operator,
                        true,
                        input,
                        filter,
                        bias,
                        output,
                        new Size(in.get(1), in.get(2), in.get(3)),
                        new Size(out.get(1), out.get(2), out.get(3)),
                        new Window(
                                weights.get(1),
                                weights.get(2),
                                table.intValue("stride_h"),
                                table.intValue("stride_w"),
                                table.intValue("padding") == SAME)));
    }

    private static Optional<Layer> fullyConnected(
            TfLiteSubgraph graph, int operator, int input, int filter, int bias, int output) {
        List<Integer> weights = graph.tensors().get(filter).shape();
        Optional<FlatTable> options = graph.operators().get(operator).builtinOptions();
        if (weights.size() != 2
                || options.isEmpty()
                || !options.get().type().equals("FullyConnectedOptions")
                || options.get().intValue("weights_format") != 0
                || elements(graph, input) != weights.get(1)
                || elements(graph, output) != weights.get(0)
                || lastDimension(graph, output) != weights.get(0)) {
            return Optional.empty();
        }
        Size in = new Size(1, 1, weights.get(1));
        Size out = new Size(1, 1, weights.get(0));
        return Optional.of(
                new Layer(operator, false, input, filter, bias, output, in, out, Window.ONE_PLACE));
    }

    private static long elements(TfLiteSubgraph graph, int id) {
        return graph.tensors().get(id).sizeBytes() / Float.BYTES;
    }

    private static int lastDimension(TfLiteSubgraph graph, int id) {
        List<Integer> shape = graph.tensors().get(id).shape();
        return shape.get(shape.size() - 1);
    }

    /** Returns false for layers that the engine would refuse, or compute differently. */
    private static boolean fits(TfLiteSubgraph graph, Layer layer) {
        Window window = layer.window;
        long patches = (long) window.height() * window.width() * layer.in.channels();
        return patches <= Integer.MAX_VALUE / Float.BYTES
                && layer.out.height
                        == window.outputs(layer.in.height, window.height(), window.strideHeight())
                && layer.out.width
                        == window.outputs(layer.in.width, window.width(), window.strideWidth())
                && (layer.bias == TfLiteOperator.ABSENT
                        || elements(graph, layer.bias) == layer.out.channels());
    }
}
