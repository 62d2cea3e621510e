package org.djlplan.integration.networks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.networks.SampleKernels.Images;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;

/**
 * A network of random weights that is as badly conditioned as a trained one.
 *
 * <p>Each convolution is scaled and shifted so that its channels have mean 0 and a given deviation
 * over a sample, as after a folded batch normalization. Rectified values have a large mean, which
 * the next layer subtracts. So rounding errors grow, relative to the values, from layer to layer
 * (Yang et al. 2019, <a href="https://arxiv.org/abs/1902.08129">A Mean Field Theory of Batch
 * Normalization</a>). The same sample gives the scales of quantized tensors.
 */
final class CalibratedNetwork {

    private static final int VALID = 1;
    private static final int RELU6 = 3;
    private static final int KERNEL = 3;

    /** Number of a quantized weight's steps on either side of 0. */
    private static final int STEPS = 127;

    private static final float LEAST_RANGE = 1e-6f;

    /** A score before its sigmoid, which makes 0.99 of it. */
    private static final float SURE = 4.6f;

    /**
     * Standard deviation of a softmax's input, with which one of a hundred classes gets about half.
     */
    private static final double SHARP = 3;

    private final ModelSketch model = new ModelSketch();
    private final List<Integer> outputs = new ArrayList<>();
    private final Random random;
    private final Weights weights;
    private double steepness;

    /** How weights are stored. */
    enum Weights {
        FLOAT32,
        FLOAT16,
        /**
         * Like {@link #INT8}, but unsigned: 128 stands for 0, as in converters' first 8-bit models.
         */
        UINT8,
        /** All tensors have 8 bits and one scale each. */
        INT8,
        /** As converters write 8-bit models: weights have a scale for each output channel. */
        INT8_CHANNELS,
        /** The weights of {@link #INT8_CHANNELS}; other tensors are floats. */
        DYNAMIC_RANGE,
        /** The weights' values in {@link #DYNAMIC_RANGE}, as floats. */
        DYNAMIC_RANGE_AS_FLOATS;

        boolean allAreIntegers() {
            return this == UINT8 || this == INT8 || this == INT8_CHANNELS;
        }

        private ElementType type() {
            return this == UINT8 ? ElementType.UINT8 : ElementType.INT8;
        }

        /** Returns the number that stands for a signed 0. */
        private int zero() {
            return this == UINT8 ? 128 : 0;
        }
    }

    /** A tensor, and its values for the sample. */
    record Value(int tensor, Form form, Images sample) {}

    /** A constant, with its scales if it is quantized: one, or one for each channel. */
    private record Constant(int tensor, List<Float> scales) {}

    /**
     * @param steepness how much the slopes for negative values differ, which decides how fast
     *     errors grow
     */
    CalibratedNetwork(long seed, Weights weights, double steepness) {
        random = new Random(seed);
        this.weights = weights;
        this.steepness = steepness;
    }

    /** Returns the model. */
    TfLiteFile build() {
        outputs.forEach(model::output);
        return model.build();
    }

    /** Makes errors grow faster in the layers that follow. */
    CalibratedNetwork steeper(double other) {
        steepness = other;
        return this;
    }

    /** Adds an input: a square image with values in [0, 1). */
    Value input(int side, int channels) {
        Images sample = Images.empty(side, side, channels);
        for (int i = 0; i < sample.values().length; i++) {
            sample.values()[i] = random.nextFloat();
        }
        Form form = form(sample, 1, side, side, channels);
        return new Value(model.input(form), form, sample);
    }

    /** Adds blocks of one size. */
    Value stage(Value x, int channels, int blocks) {
        Value y = x;
        for (int i = 0; i < blocks; i++) {
            y = rectified(add(y, pointwise(depthwise(y, 1), y.sample())));
        }
        return y;
    }

    /** Adds a layer that halves the size and changes the channels. */
    Value down(Value x, int channels) {
        return rectified(pointwise(depthwise(x, 2), Images.empty(1, 1, channels)));
    }

    /**
     * Adds an inverted residual with clipped rectifiers, as in MobileNet v2.
     *
     * @param expansion factor by which the first convolution increases the channels
     * @param kernel of the depthwise convolution
     */
    Value bottleneck(Value x, int expansion, int channels, int kernel, int stride) {
        int wide = expansion * x.sample().channels();
        Value y = expansion == 1 ? x : clipped(x, wide, 1, 1);
        y = clippedDepthwise(y, kernel, stride);
        boolean residual = stride == 1 && channels == x.sample().channels();
        return residual
                ? add(x, pointwise(y, x.sample()))
                : pointwise(y, Images.empty(1, 1, channels));
    }

    /** Adds a convolution and a rectifier that cuts off at 6. */
    Value clipped(Value x, int channels, int kernel, int stride) {
        int fan = kernel * kernel * x.sample().channels();
        float[] filter = randoms(channels * fan, 1 / Math.sqrt(fan));
        float[] bias = new float[channels];
        Images raw = SampleKernels.convolution(x.sample(), filter, bias, kernel, stride);
        normalize(raw, filter, bias, fan);
        Constant filters = filters(0, filter, channels, kernel, kernel, x.sample().channels());
        Images y = SampleKernels.convolution(x.sample(), filter, bias, kernel, stride);
        return operator(
                "CONV_2D",
                Optional.of(
                        window("Conv2DOptions", stride).with("fused_activation_function", RELU6)),
                SampleKernels.clipped(y),
                x.tensor(),
                filters.tensor(),
                bias(bias, x, filters));
    }

    /** Adds a depthwise convolution and a rectifier that cuts off at 6. */
    Value clippedDepthwise(Value x, int kernel, int stride) {
        int channels = x.sample().channels();
        float[] filter = randoms(kernel * kernel * channels, 1. / kernel);
        float[] bias = new float[channels];
        normalize(
                SampleKernels.depthwise(x.sample(), filter, bias, kernel, stride), filter, bias, 1);
        Constant filters = filters(3, filter, 1, kernel, kernel, channels);
        return operator(
                "DEPTHWISE_CONV_2D",
                Optional.of(
                        window("DepthwiseConv2DOptions", stride)
                                .with("depth_multiplier", 1)
                                .with("fused_activation_function", RELU6)),
                SampleKernels.clipped(
                        SampleKernels.depthwise(x.sample(), filter, bias, kernel, stride)),
                x.tensor(),
                filters.tensor(),
                bias(bias, x, filters));
    }

    /**
     * Scales and shifts channels to a deviation of 2 and a mean near 1.
     *
     * @param run number of consecutive weights of one channel
     */
    private void normalize(Images raw, float[] filter, float[] bias, int run) {
        double[] scales = new double[bias.length];
        for (int c = 0; c < bias.length; c++) {
            double[] own = moments(raw, c);
            scales[c] = 2 / own[1];
            bias[c] = (float) (1 + random.nextGaussian() - own[0] * scales[c]);
        }
        for (int i = 0; i < filter.length; i++) {
            filter[i] *= (float) scales[i / run % bias.length];
        }
    }

    /** The mean of each channel. */
    Value average(Value x) {
        Images sample = SampleKernels.average(x.sample());
        Form form = x.form().shaped(shape(sample));
        FlatTable options =
                window("Pool2DOptions", 1)
                        .with("padding", VALID)
                        .with("filter_width", x.sample().width())
                        .with("filter_height", x.sample().height());
        int mean = model.operator("AVERAGE_POOL_2D", Optional.of(options), form, x.tensor());
        return new Value(mean, form, sample);
    }

    /** Doubles the size, and adds {@code fine}, which has that size. */
    Value up(Value x, Value fine) {
        Images sample = SampleKernels.doubled(x.sample());
        Form form = x.form().shaped(shape(sample));
        int size = model.ints(sample.height(), sample.width());
        FlatTable options = FlatTable.of("ResizeBilinearOptions");
        int larger =
                model.operator("RESIZE_BILINEAR", Optional.of(options), form, x.tensor(), size);
        Value y = pointwise(new Value(larger, form, sample), fine.sample());
        return rectified(add(y, fine));
    }

    /** Adds a convolution and a rectifier. */
    Value convolution(Value x, int channels, int kernel, int stride) {
        return rectified(normalized(x, kernel, stride, Images.empty(1, 1, channels), 1));
    }

    private Value pointwise(Value x, Images added) {
        return normalized(x, 1, 1, added, 1);
    }

    /**
     * Adds a convolution. Its output plus images of the same channels has a mean near 0 and a set
     * deviation.
     */
    private Value normalized(Value x, int kernel, int stride, Images added, double deviation) {
        int channels = added.channels();
        int fan = kernel * kernel * x.sample().channels();
        float[] filter = randoms(channels * fan, 1 / Math.sqrt(fan));
        float[] bias = new float[channels];
        Images raw = SampleKernels.convolution(x.sample(), filter, bias, kernel, stride);
        for (int c = 0; c < channels; c++) {
            double[] own = moments(raw, c);
            double[] other = moments(added, c);
            double part = deviation * deviation - other[1] * other[1];
            double scale = Math.sqrt(Math.max(.1, part)) / own[1];
            for (int i = 0; i < fan; i++) {
                filter[c * fan + i] *= (float) scale;
            }
            double mean = deviation * .3 * random.nextGaussian();
            bias[c] = (float) (mean - other[0] - own[0] * scale);
        }
        Constant filters = filters(0, filter, channels, kernel, kernel, x.sample().channels());
        int biases = bias(bias, x, filters);
        Images y = SampleKernels.convolution(x.sample(), filter, bias, kernel, stride);
        return operator(
                "CONV_2D",
                Optional.of(window("Conv2DOptions", stride)),
                y,
                x.tensor(),
                filters.tensor(),
                biases);
    }

    /** Returns mean and deviation of a channel. */
    private static double[] moments(Images images, int channel) {
        double sum = 0;
        double squares = 0;
        for (int i = channel; i < images.values().length; i += images.channels()) {
            sum += images.values()[i];
            squares += (double) images.values()[i] * images.values()[i];
        }
        double mean = sum / images.places();
        double variance = squares / images.places() - mean * mean;
        return new double[] {mean, Math.sqrt(Math.max(variance, 1e-6))};
    }

    private Value depthwise(Value x, int stride) {
        int channels = x.sample().channels();
        float[] filter = randoms(KERNEL * KERNEL * channels, 1. / KERNEL);
        float[] bias = randoms(channels, .1);
        Constant filters = filters(3, filter, 1, KERNEL, KERNEL, channels);
        int biases = bias(bias, x, filters);
        return operator(
                "DEPTHWISE_CONV_2D",
                Optional.of(window("DepthwiseConv2DOptions", stride).with("depth_multiplier", 1)),
                SampleKernels.depthwise(x.sample(), filter, bias, KERNEL, stride),
                x.tensor(),
                filters.tensor(),
                biases);
    }

    private static FlatTable window(String type, int stride) {
        return FlatTable.of(type).with("stride_w", stride).with("stride_h", stride);
    }

    private Value add(Value x, Value y) {
        return operator(
                "ADD",
                Optional.of(FlatTable.of("AddOptions")),
                SampleKernels.sum(x.sample(), y.sample()),
                x.tensor(),
                y.tensor());
    }

    private Value rectified(Value x) {
        int channels = x.sample().channels();
        float[] slopes = new float[channels];
        for (int i = 0; i < channels; i++) {
            slopes[i] = (float) (.3 - steepness * random.nextFloat());
        }
        int constant = weights(slopes, 1, 1, channels).tensor();
        Images y = SampleKernels.rectified(x.sample(), slopes);
        return operator("PRELU", Optional.empty(), y, x.tensor(), constant);
    }

    /** Adds an output of numbers, each of which depends on the whole image. */
    void vector(Value x, int numbers) {
        outputs.add(numbers(x, numbers, 0, 1).tensor());
    }

    /** Adds an output in (0, 1) that is near 1. */
    void score(Value x) {
        Value logit = numbers(x, 1, SURE, 1);
        outputs.add(
                model.operator("LOGISTIC", Optional.empty(), probability(1, 1), logit.tensor()));
    }

    /** Adds an output of probabilities. */
    void softmax(Value x, int classes) {
        Optional<FlatTable> options = Optional.of(FlatTable.of("SoftmaxOptions").with("beta", 1f));
        Value logits = numbers(x, classes, 0, SHARP);
        outputs.add(model.operator("SOFTMAX", options, probability(1, classes), logits.tensor()));
    }

    private Value numbers(Value x, int numbers, float mean, double deviation) {
        Images sample = x.sample();
        int fan = sample.elementsOfOne();
        double size = 0;
        for (float value : sample.values()) {
            size += (double) value * value;
        }
        float[] filter = randoms(numbers * fan, deviation * Math.sqrt(Images.COUNT / size));
        float[] bias = new float[numbers];
        for (int i = 0; i < numbers; i++) {
            bias[i] = mean + (float) (.2 * random.nextGaussian());
        }
        Constant filters =
                filters(0, filter, numbers, sample.height(), sample.width(), sample.channels());
        int biases = bias(bias, x, filters);
        Value result =
                operator(
                        "CONV_2D",
                        Optional.of(window("Conv2DOptions", 1).with("padding", VALID)),
                        SampleKernels.products(sample, filter, bias),
                        x.tensor(),
                        filters.tensor(),
                        biases);
        Form flat = result.form().shaped(List.of(1, numbers));
        return new Value(model.reshape(result.tensor(), flat), flat, result.sample());
    }

    /** Adds an output of one probability for each place. */
    void mask(Value x) {
        Value logits = normalized(x, 1, 1, Images.empty(1, 1, 1), 3);
        Form form = probability(1, logits.sample().height(), logits.sample().width(), 1);
        outputs.add(model.operator("LOGISTIC", Optional.empty(), form, logits.tensor()));
    }

    /** Adds an output of some numbers for each place. */
    void map(Value x, int numbers) {
        outputs.add(pointwise(x, Images.empty(1, 1, numbers)).tensor());
    }

    private Value operator(
            String type, Optional<FlatTable> options, Images sample, int... operands) {
        int[] shape = {1, sample.height(), sample.width(), sample.channels()};
        Form form = form(sample, shape);
        return new Value(model.operator(type, options, form, operands), form, sample);
    }

    private static List<Integer> shape(Images images) {
        return List.of(1, images.height(), images.width(), images.channels());
    }

    /** Returns the form of a tensor that holds such values. */
    private Form form(Images values, int... shape) {
        if (!weights.allAreIntegers()) {
            return Form.of(ElementType.FLOAT32, shape);
        }
        float least = 0;
        float largest = 0;
        for (float value : values.values()) {
            least = Math.min(least, value);
            largest = Math.max(largest, value);
        }
        float scale = Math.max((largest - least) / 255, 1e-6f);
        int zeroPoint = weights.zero() - 128 - Math.round(least / scale);
        return Form.of(weights.type(), shape).scaled(scale, zeroPoint);
    }

    /** Returns the form that the engine requires of the results of sigmoid and softmax. */
    private Form probability(int... shape) {
        return weights.allAreIntegers()
                ? Form.of(weights.type(), shape).scaled(1f / 256, weights.zero() - 128)
                : Form.of(ElementType.FLOAT32, shape);
    }

    private float[] randoms(int count, double deviation) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) (deviation * random.nextGaussian());
        }
        return values;
    }

    /**
     * Adds the weights of a convolution, and rounds them.
     *
     * @param dimension of the output's channels
     */
    private Constant filters(int dimension, float[] values, int... shape) {
        if (weights.compareTo(Weights.INT8_CHANNELS) < 0) {
            return weights(values, shape);
        }
        int channels = shape[dimension];
        int run = dimension == 0 ? values.length / channels : 1;
        float[] largest = new float[channels];
        Arrays.fill(largest, LEAST_RANGE);
        for (int i = 0; i < values.length; i++) {
            int channel = i / run % channels;
            largest[channel] = Math.max(largest[channel], Math.abs(values[i]));
        }
        ByteBuffer content = buffer(values.length);
        List<Float> scales = new ArrayList<>();
        for (float range : largest) {
            scales.add(range / STEPS);
        }
        for (int i = 0; i < values.length; i++) {
            float scale = scales.get(i / run % channels);
            int steps = Math.round(values[i] / scale);
            content.put((byte) steps);
            values[i] = steps * scale;
        }
        if (weights == Weights.DYNAMIC_RANGE_AS_FLOATS) {
            return weights(values, shape);
        }
        Form form = Form.of(ElementType.INT8, shape);
        return new Constant(model.constant(form, scales, dimension, content.rewind()), scales);
    }

    /**
     * Adds a constant, with an operator that unpacks it if it has 16 bits, and rounds the values.
     */
    private Constant weights(float[] values, int... shape) {
        if (weights == Weights.FLOAT16) {
            ByteBuffer content = buffer(values.length * Short.BYTES);
            for (int i = 0; i < values.length; i++) {
                short half = Half.of(values[i]);
                content.putShort(half);
                values[i] = Half.toFloat(half);
            }
            int packed = model.constant(Form.of(ElementType.FLOAT16, shape), content.rewind());
            Form form = Form.of(ElementType.FLOAT32, shape);
            return new Constant(
                    model.operator(
                            "DEQUANTIZE",
                            Optional.of(FlatTable.of("DequantizeOptions")),
                            form,
                            packed),
                    List.of());
        }
        if (weights.allAreIntegers()) {
            float scale = largest(values) / STEPS;
            ByteBuffer content = buffer(values.length);
            for (int i = 0; i < values.length; i++) {
                int steps = Math.round(values[i] / scale);
                content.put((byte) (steps + weights.zero()));
                values[i] = steps * scale;
            }
            Form form = Form.of(weights.type(), shape).scaled(scale, weights.zero());
            return new Constant(model.constant(form, content.rewind()), List.of(scale));
        }
        ByteBuffer content = buffer(values.length * Float.BYTES);
        for (float value : values) {
            content.putFloat(value);
        }
        Form form = Form.of(ElementType.FLOAT32, shape);
        return new Constant(model.constant(form, content.rewind()), List.of());
    }

    /** Adds a bias with the scale of the sums; a quantized bias has 32-bit integers. */
    private int bias(float[] values, Value x, Constant filters) {
        if (!weights.allAreIntegers()) {
            return weights(values, values.length).tensor();
        }
        List<Float> scales =
                filters.scales().stream().map(scale -> scale * x.form().scale()).toList();
        ByteBuffer content = buffer(values.length * Integer.BYTES);
        for (int i = 0; i < values.length; i++) {
            content.putInt(Math.round(values[i] / scales.get(i % scales.size())));
        }
        Form form = Form.of(ElementType.INT32, values.length);
        return model.constant(form, scales, 0, content.rewind());
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static float largest(float[] values) {
        float largest = LEAST_RANGE;
        for (float value : values) {
            largest = Math.max(largest, Math.abs(value));
        }
        return largest;
    }
}
