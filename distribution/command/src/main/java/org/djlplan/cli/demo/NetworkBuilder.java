package org.djlplan.cli.demo;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.IntFunction;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperatorCode;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.thirdparty.guava.base.Ascii;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Builds a network of 32-bit floats layer by layer. Every layer is one operator of TensorFlow Lite,
 * in the order of the calls.
 *
 * <p>Weights are random, from a seed, and scaled so that the activations' variance stays the same
 * from layer to layer (He et al. 2015, <a href="https://arxiv.org/abs/1502.01852">Delving Deep into
 * Rectifiers</a>, section 2.2), so outputs are finite and differ from input to input.
 */
public final class NetworkBuilder {

    private static final double BIAS_DEVIATION = 0.1;

    private final String description;
    private final ModelParts parts;
    private final List<Integer> inputs = new ArrayList<>();
    private final List<Integer> outputs = new ArrayList<>();
    private double factor = 1;

    /**
     * @param description stored in the file
     * @param seed networks with the same layers and seed are equal
     */
    public NetworkBuilder(String description, long seed) {
        this(description, seed, ByteBuffer::allocate);
    }

    /**
     * @param description stored in the file
     * @param seed networks with the same layers and seed are equal
     * @param memory allocates a buffer of a number of bytes, so that networks larger than the heap
     *     can have their constants elsewhere
     */
    public NetworkBuilder(String description, long seed, IntFunction<ByteBuffer> memory) {
        this.description = description;
        this.parts = new ModelParts(seed, memory);
    }

    /**
     * Multiplies the weights of the following layers by a factor, which is 1 at first. A factor
     * below 1 before a sum prevents the variance from doubling with each of many sums in a row.
     */
    public NetworkBuilder scaled(double next) {
        factor = next;
        return this;
    }

    /** Adds an input that the caller fills. */
    public LayerOutput input(String name, int... shape) {
        LayerOutput input = parts.tensor(name, Ints.asList(shape));
        inputs.add(input.tensor());
        return input;
    }

    /** Marks a value as an output; outputs keep the order of the calls. */
    public NetworkBuilder output(LayerOutput value) {
        outputs.add(value.tensor());
        return this;
    }

    /** Returns the model. */
    public TfLiteFile build() {
        return parts.build(description, inputs, outputs);
    }

    /** Adds a convolution with a square kernel and same padding. */
    public LayerOutput conv2d(
            LayerOutput x, int channels, int kernel, int stride, Activation activation) {
        return conv2d(x, channels, kernel, kernel, stride, Padding.SAME, activation);
    }

    /**
     * Adds a convolution with bias.
     *
     * @param channels channels of the output
     * @param height height of the kernel
     * @param width width of the kernel
     */
    public LayerOutput conv2d(
            LayerOutput x,
            int channels,
            int height,
            int width,
            int stride,
            Padding padding,
            Activation activation) {
        int inputs = x.dimension(-1);
        List<Integer> shape = ImmutableList.of(channels, height, width, inputs);
        FlatTable options = windowOptions("Conv2DOptions", stride, padding, activation);
        return operator(
                "CONV_2D",
                options,
                windowed(x, height, width, stride, padding, channels),
                x,
                weights(shape, height * width * inputs, activation),
                bias(channels));
    }

    /** Adds a depthwise convolution with bias, a square kernel and same padding. */
    public LayerOutput depthwiseConv2d(
            LayerOutput x, int kernel, int stride, Activation activation) {
        int channels = x.dimension(-1);
        FlatTable options =
                windowOptions("DepthwiseConv2DOptions", stride, Padding.SAME, activation)
                        .with("depth_multiplier", 1);
        return operator(
                "DEPTHWISE_CONV_2D",
                options,
                windowed(x, kernel, kernel, stride, Padding.SAME, channels),
                x,
                weights(ImmutableList.of(1, kernel, kernel, channels), kernel * kernel, activation),
                bias(channels));
    }

    /** Adds averages over square windows. */
    public LayerOutput averagePool(LayerOutput x, int window, int stride, Padding padding) {
        return pool("AVERAGE_POOL_2D", x, window, stride, padding);
    }

    /** Adds maxima over square windows. */
    public LayerOutput maxPool(LayerOutput x, int window, int stride, Padding padding) {
        return pool("MAX_POOL_2D", x, window, stride, padding);
    }

    private LayerOutput pool(String type, LayerOutput x, int window, int stride, Padding padding) {
        FlatTable options =
                windowOptions("Pool2DOptions", stride, padding, Activation.NONE)
                        .with("filter_width", window)
                        .with("filter_height", window);
        return operator(
                type, options, windowed(x, window, window, stride, padding, x.dimension(-1)), x);
    }

    /** Adds a fully connected layer with bias, from [batch, features] to [batch, units]. */
    public LayerOutput fullyConnected(LayerOutput x, int units, Activation activation) {
        checkArgument(x.shape().size() == 2, "[batch, features] expected, not %s", x.shape());
        int features = x.dimension(1);
        return operator(
                "FULLY_CONNECTED",
                fused("FullyConnectedOptions", activation),
                ImmutableList.of(x.dimension(0), units),
                x,
                weights(ImmutableList.of(units, features), features, activation),
                bias(units));
    }

    /** Adds the sum a + b. */
    public LayerOutput add(LayerOutput a, LayerOutput b, Activation activation) {
        return binary("ADD", a, b, fused("AddOptions", activation));
    }

    /** Adds the product a · b, element by element. */
    public LayerOutput mul(LayerOutput a, LayerOutput b, Activation activation) {
        return binary("MUL", a, b, fused("MulOptions", activation));
    }

    /** Adds the difference a − b. */
    public LayerOutput sub(LayerOutput a, LayerOutput b, Activation activation) {
        return binary("SUB", a, b, fused("SubOptions", activation));
    }

    private LayerOutput binary(String type, LayerOutput a, LayerOutput b, FlatTable options) {
        checkArgument(a.shape().equals(b.shape()), "%s and %s differ", a.shape(), b.shape());
        return operator(type, options, a.shape(), a, b);
    }

    /**
     * Adds an operator without options from one value to another of the same shape.
     *
     * @param type TFLite's name, for example {@code RELU}, {@code LOGISTIC}, {@code TANH}, {@code
     *     HARD_SWISH}, {@code ABS}
     */
    public LayerOutput unary(String type, LayerOutput x) {
        return operator(type, Optional.empty(), x.shape(), x);
    }

    /** Adds softmax over the last dimension. */
    public LayerOutput softmax(LayerOutput x) {
        FlatTable options = FlatTable.of("SoftmaxOptions").with("beta", 1f);
        return operator("SOFTMAX", options, x.shape(), x);
    }

    /** Concatenates values along a dimension; all other dimensions must be equal. */
    public LayerOutput concat(int axis, LayerOutput... values) {
        List<Integer> shape = new ArrayList<>(values[0].shape());
        shape.set(axis, 0);
        for (LayerOutput value : values) {
            shape.set(axis, shape.get(axis) + value.dimension(axis));
        }
        FlatTable options = fused("ConcatenationOptions", Activation.NONE).with("axis", axis);
        return operator("CONCATENATION", options, shape, values);
    }

    /** Adds the mean of each channel of an image, as [batch, channels]. */
    public LayerOutput mean(LayerOutput x) {
        FlatTable options = FlatTable.of("ReducerOptions").with("keep_dims", false);
        LayerOutput axes = constants("axes", ImmutableList.of(2), ImmutableList.of(1, 2));
        List<Integer> shape = ImmutableList.of(x.dimension(0), x.dimension(3));
        return operator("MEAN", options, shape, x, axes);
    }

    /** Adds a reshape to another shape. */
    public LayerOutput reshape(LayerOutput x, int... shape) {
        List<Integer> newShape = Ints.asList(shape);
        FlatTable options =
                FlatTable.of("ReshapeOptions").with("new_shape", ImmutableList.copyOf(newShape));
        LayerOutput shapes = constants("shape", ImmutableList.of(shape.length), newShape);
        return operator("RESHAPE", options, newShape, x, shapes);
    }

    /** Removes dimensions of 1. */
    public LayerOutput squeeze(LayerOutput x, int... dimensions) {
        List<Integer> left = Ints.asList(dimensions);
        List<Integer> shape = new ArrayList<>();
        for (int i = 0; i < x.shape().size(); i++) {
            if (!left.contains(i)) {
                shape.add(x.dimension(i));
            }
        }
        FlatTable options =
                FlatTable.of("SqueezeOptions").with("squeeze_dims", ImmutableList.copyOf(left));
        return operator("SQUEEZE", options, shape, x);
    }

    /**
     * Adds zeros around a value.
     *
     * @param beforeAndAfter for each dimension the padding before and after: two ints each
     */
    public LayerOutput pad(LayerOutput x, int... beforeAndAfter) {
        int rank = x.shape().size();
        checkArgument(beforeAndAfter.length == 2 * rank, "two paddings per dimension expected");
        List<Integer> shape = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            shape.add(x.dimension(i) + beforeAndAfter[2 * i] + beforeAndAfter[2 * i + 1]);
        }
        LayerOutput paddings =
                constants("paddings", ImmutableList.of(rank, 2), Ints.asList(beforeAndAfter));
        return operator("PAD", FlatTable.of("PadOptions"), shape, x, paddings);
    }

    /** Resizes an image with bilinear interpolation. */
    public LayerOutput resizeBilinear(LayerOutput x, int height, int width) {
        LayerOutput size = constants("size", ImmutableList.of(2), ImmutableList.of(height, width));
        return operator(
                "RESIZE_BILINEAR",
                FlatTable.of("ResizeBilinearOptions"),
                ImmutableList.of(x.dimension(0), height, width, x.dimension(3)),
                x,
                size);
    }

    private static FlatTable fused(String type, Activation activation) {
        return FlatTable.of(type).with("fused_activation_function", activation.code());
    }

    private static FlatTable windowOptions(
            String type, int stride, Padding padding, Activation activation) {
        return fused(type, activation)
                .with("padding", padding.code())
                .with("stride_w", stride)
                .with("stride_h", stride);
    }

    private static List<Integer> windowed(
            LayerOutput x, int height, int width, int stride, Padding padding, int channels) {
        checkArgument(x.shape().size() == 4, "an image expected, not %s", x.shape());
        return ImmutableList.of(
                x.dimension(0),
                padding.outputSize(x.dimension(1), height, stride),
                padding.outputSize(x.dimension(2), width, stride),
                channels);
    }

    private LayerOutput weights(List<Integer> shape, int fanIn, Activation activation) {
        // A rectifier halves the variance, so the layer before it gets twice the variance.
        double gain = activation == Activation.NONE ? 1 : 2;
        return parts.randoms(nextName("weights"), shape, factor * Math.sqrt(gain / fanIn));
    }

    private LayerOutput bias(int channels) {
        return parts.randoms(nextName("bias"), ImmutableList.of(channels), BIAS_DEVIATION);
    }

    private LayerOutput constants(String name, List<Integer> shape, List<Integer> values) {
        return parts.ints(nextName(name), shape, values);
    }

    private LayerOutput operator(
            String type, FlatTable options, List<Integer> shape, LayerOutput... inputs) {
        return operator(type, Optional.of(options), shape, inputs);
    }

    private LayerOutput operator(
            String type, Optional<FlatTable> options, List<Integer> shape, LayerOutput... inputs) {
        String name = nextName(Ascii.toLowerCase(type));
        return parts.operator(type, options, name, shape, ImmutableList.copyOf(inputs));
    }

    private String nextName(String what) {
        return "layer_" + parts.operatorCount() + "/" + what;
    }

    /** The parts of a model under construction: tensors, buffers, operators. */
    private static final class ModelParts {

        private final List<TfLiteTensor> tensors = new ArrayList<>();
        private final List<TfLiteBytes> buffers = new ArrayList<>(List.of(TfLiteBytes.EMPTY));
        private final List<TfLiteOperator> operators = new ArrayList<>();
        private final Map<TfLiteOperatorCode, Integer> codes = new LinkedHashMap<>();
        private final Random random;
        private final IntFunction<ByteBuffer> memory;

        ModelParts(long seed, IntFunction<ByteBuffer> memory) {
            random = new Random(seed);
            this.memory = memory;
        }

        LayerOutput tensor(String name, List<Integer> shape) {
            return add(TfLiteTensor.plain(shape, TfLiteTensor.FLOAT32, 0, name));
        }

        private LayerOutput add(TfLiteTensor tensor) {
            checkArgument(
                    tensor.shape().stream().allMatch(dimension -> dimension > 0),
                    "%s would have the shape %s",
                    tensor.name(),
                    tensor.shape());
            tensors.add(tensor);
            return new LayerOutput(tensors.size() - 1, tensor.shape());
        }

        private LayerOutput constant(
                String name, List<Integer> shape, int typeCode, ByteBuffer content) {
            buffers.add(TfLiteBytes.of(content));
            return add(TfLiteTensor.plain(shape, typeCode, buffers.size() - 1, name));
        }

        LayerOutput ints(String name, List<Integer> shape, List<Integer> values) {
            ByteBuffer content = littleEndian(values.size());
            values.forEach(content::putInt);
            return constant(name, shape, TfLiteTensor.INT32, content.flip());
        }

        /** Adds numbers distributed uniformly around 0 with a given standard deviation. */
        LayerOutput randoms(String name, List<Integer> shape, double deviation) {
            int count = shape.stream().reduce(1, Math::multiplyExact);
            float reach = (float) (deviation * Math.sqrt(3));
            ByteBuffer content = littleEndian(count);
            for (int i = 0; i < count; i++) {
                content.putFloat((2 * random.nextFloat() - 1) * reach);
            }
            return constant(name, shape, TfLiteTensor.FLOAT32, content.flip());
        }

        private ByteBuffer littleEndian(int elements) {
            return memory.apply(Math.multiplyExact(elements, Integer.BYTES))
                    .order(ByteOrder.LITTLE_ENDIAN);
        }

        LayerOutput operator(
                String type,
                Optional<FlatTable> options,
                String outputName,
                List<Integer> outputShape,
                List<LayerOutput> inputs) {
            LayerOutput output = tensor(outputName, outputShape);
            operators.add(
                    new TfLiteOperator(
                            codes.computeIfAbsent(
                                    TfLiteOperatorCode.builtin(type, 1), code -> codes.size()),
                            inputs.stream().map(LayerOutput::tensor).toList(),
                            List.of(output.tensor()),
                            options,
                            TfLiteBytes.EMPTY,
                            0,
                            List.of(),
                            List.of()));
            return output;
        }

        int operatorCount() {
            return operators.size();
        }

        TfLiteFile build(String description, List<Integer> inputs, List<Integer> outputs) {
            return new TfLiteFile(
                    description,
                    List.copyOf(codes.keySet()),
                    List.of(new TfLiteSubgraph("main", tensors, inputs, outputs, operators)),
                    buffers,
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of());
        }
    }
}
