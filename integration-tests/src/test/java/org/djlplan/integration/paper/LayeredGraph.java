package org.djlplan.integration.paper;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.Padding;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Builds a network's graph of 32-bit floats layer by layer. It has shapes only, so a network of 100
 * MB takes no memory. Each layer is one TFLite operator, in the order of the calls; an activation
 * is part of the preceding layer, as in TFLite's converter.
 */
public final class LayeredGraph {

    private final String name;
    private final List<Tensor> tensors = new ArrayList<>();
    private final List<Operator> operators = new ArrayList<>();
    private final List<Integer> inputs = new ArrayList<>();
    private final List<Integer> outputs = new ArrayList<>();
    private long parameters;
    private long multiplyAdds;

    /** Begins a network. */
    public LayeredGraph(String name) {
        this.name = name;
    }

    /** Adds an input that the caller fills. */
    public LayerOutput input(int... shape) {
        LayerOutput input = tensor(Ints.asList(shape));
        inputs.add(input.tensor());
        return input;
    }

    /** Makes values outputs. */
    public LayeredGraph output(LayerOutput... values) {
        Arrays.stream(values).forEach(value -> outputs.add(value.tensor()));
        return this;
    }

    /** Returns the network. */
    public NetworkSketch build() {
        return new NetworkSketch(
                new Graph(name, operators, tensors, inputs, outputs), parameters, multiplyAdds);
    }

    /** Adds a convolution with bias, a square kernel and same padding. */
    public LayerOutput conv2d(LayerOutput x, int channels, int kernel, int stride) {
        return conv2d(x, channels, kernel, kernel, stride, Padding.SAME);
    }

    /**
     * Adds a convolution with bias. Dilation does not change the output's shape, so it is not a
     * parameter.
     *
     * @param channels channels of the output
     * @param height height of the kernel
     * @param width width of the kernel
     */
    public LayerOutput conv2d(
            LayerOutput x, int channels, int height, int width, int stride, Padding padding) {
        LayerOutput y = windowed("CONV_2D", x, height, width, stride, padding, channels);
        return weighted(y, (long) height * width * x.dimension(-1));
    }

    /** Adds a depthwise convolution with bias, a square kernel and same padding. */
    public LayerOutput depthwiseConv2d(LayerOutput x, int kernel, int stride) {
        int channels = x.dimension(-1);
        LayerOutput y =
                windowed("DEPTHWISE_CONV_2D", x, kernel, kernel, stride, Padding.SAME, channels);
        return weighted(y, (long) kernel * kernel);
    }

    private LayerOutput weighted(LayerOutput y, long weightsPerChannel) {
        parameters += y.dimension(-1) * (weightsPerChannel + 1);
        multiplyAdds += elements(y.shape()) * weightsPerChannel;
        return y;
    }

    /** Adds averages over square windows. */
    public LayerOutput averagePool(LayerOutput x, int window, int stride, Padding padding) {
        return windowed("AVERAGE_POOL_2D", x, window, window, stride, padding, x.dimension(-1));
    }

    /** Adds maxima over square windows. */
    public LayerOutput maxPool(LayerOutput x, int window, int stride, Padding padding) {
        return windowed("MAX_POOL_2D", x, window, window, stride, padding, x.dimension(-1));
    }

    /** Adds the operator a + b. */
    public LayerOutput add(LayerOutput a, LayerOutput b) {
        checkArgument(a.shape().equals(b.shape()), "%s and %s differ", a.shape(), b.shape());
        return operator("ADD", a.shape(), a, b);
    }

    /**
     * Adds a rectifier that is a separate operator in the file, not a part of the layer before it.
     */
    public LayerOutput relu(LayerOutput x) {
        return operator("RELU", x.shape(), x);
    }

    /** Joins values along a dimension; all other dimensions are equal. */
    public LayerOutput concat(int axis, LayerOutput... values) {
        List<Integer> shape = new ArrayList<>(values[0].shape());
        for (LayerOutput other : Arrays.asList(values).subList(1, values.length)) {
            List<Integer> same = new ArrayList<>(other.shape());
            same.set(axis, values[0].dimension(axis));
            checkArgument(same.equals(values[0].shape()), "%s cannot be joined", other.shape());
            shape.set(axis, shape.get(axis) + other.dimension(axis));
        }
        return operator("CONCATENATION", shape, values);
    }

    /** Appends channels of zeros to an image. */
    public LayerOutput padChannels(LayerOutput x, int more) {
        List<Integer> shape = new ArrayList<>(x.shape());
        shape.set(shape.size() - 1, x.dimension(-1) + more);
        return operator("PAD", shape, x);
    }

    /** Scales an image to another size. */
    public LayerOutput resizeBilinear(LayerOutput x, int height, int width) {
        List<Integer> shape = ImmutableList.of(x.dimension(0), height, width, x.dimension(3));
        return operator("RESIZE_BILINEAR", shape, x);
    }

    /** Gives the same numbers another shape. */
    public LayerOutput reshape(LayerOutput x, int... shape) {
        List<Integer> newShape = Ints.asList(shape);
        checkArgument(elements(newShape) == elements(x.shape()), "%s to %s", x.shape(), newShape);
        return operator("RESHAPE", newShape, x);
    }

    /** Adds softmax over the last dimension. */
    public LayerOutput softmax(LayerOutput x) {
        return operator("SOFTMAX", x.shape(), x);
    }

    private LayerOutput windowed(
            String type,
            LayerOutput x,
            int height,
            int width,
            int stride,
            Padding padding,
            int channels) {
        List<Integer> shape =
                ImmutableList.of(
                        x.dimension(0),
                        places(x.dimension(1), height, stride, padding),
                        places(x.dimension(2), width, stride, padding),
                        channels);
        return operator(type, shape, x);
    }

    /** TFLite's {@code ComputeOutSize}: ⌈size / stride⌉, or as many as whole windows fit. */
    private static int places(int size, int window, int stride, Padding padding) {
        checkArgument(padding == Padding.SAME || window <= size, "no window of %s fits", window);
        return padding == Padding.SAME
                ? (size + stride - 1) / stride
                : (size - window) / stride + 1;
    }

    private LayerOutput operator(String type, List<Integer> shape, LayerOutput... inputs) {
        LayerOutput output = tensor(shape);
        List<Integer> ids = Arrays.stream(inputs).map(LayerOutput::tensor).toList();
        operators.add(
                new Operator(operators.size(), type, ids, List.of(output.tensor()), List.of()));
        return output;
    }

    private LayerOutput tensor(List<Integer> shape) {
        int id = tensors.size();
        tensors.add(
                new Tensor(
                        id,
                        name + '/' + id,
                        ElementType.FLOAT32,
                        shape,
                        elements(shape) * ElementType.FLOAT32.bytes(),
                        Storage.INTERMEDIATE,
                        Optional.empty()));
        return new LayerOutput(id, shape);
    }

    private static long elements(List<Integer> shape) {
        return shape.stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
    }
}
