package org.djlplan.integration.tflite.slicing;

import static org.djlplan.memplan.graph.ElementType.FLOAT32;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;

/**
 * Builds a model of one layer with random weights between two operators that copy: {@code ABS ─►
 * layer ─► ABS}. The layer is operator {@link #LAYER}.
 *
 * @param height rows of the input, 1 for a fully connected layer
 * @param width columns of the input
 * @param in channels of the input
 * @param out channels of the output
 * @param kernel rows and columns of the kernel, 0 for a fully connected layer
 * @param stride of rows and columns
 * @param padding 0 for SAME, 1 for VALID
 * @param activation number of the fused activation
 */
record LayerSketch(
        int height,
        int width,
        int in,
        int out,
        int kernel,
        int stride,
        int padding,
        int activation) {

    /** Index of the layer's operator. */
    static final int LAYER = 1;

    static final int NONE = 0;
    static final int RELU = 1;
    static final int RELU6 = 3;

    /** Returns a convolution with SAME padding and a rectifier. */
    static LayerSketch convolution(int side, int in, int out, int kernel, int stride) {
        return new LayerSketch(side, side, in, out, kernel, stride, 0, RELU);
    }

    static LayerSketch fullyConnected(int in, int out) {
        return new LayerSketch(1, 1, in, out, 0, 1, 0, RELU6);
    }

    /** Returns a random layer with up to a few million products for each output channel. */
    static LayerSketch random(Random random) {
        int in = 8 * (1 + random.nextInt(64)) + (random.nextInt(4) == 0 ? random.nextInt(8) : 0);
        int out = 8 * (1 + random.nextInt(64)) + (random.nextInt(4) == 0 ? random.nextInt(8) : 0);
        if (random.nextInt(5) == 0) {
            return fullyConnected(4 * in, 2 * out);
        }
        int kernel = 1 + random.nextInt(3);
        return new LayerSketch(
                kernel + random.nextInt(25),
                kernel + random.nextInt(25),
                in,
                out,
                kernel,
                1 + random.nextInt(2),
                random.nextInt(2),
                random.nextInt(4));
    }

    /** Returns the rows of the output. */
    int rows() {
        return outputs(height);
    }

    private int outputs(int size) {
        return padding == 0 ? (size + stride - 1) / stride : (size - kernel) / stride + 1;
    }

    TfLiteFile build(long seed) {
        Random random = new Random(seed);
        ModelSketch model = new ModelSketch();
        boolean connected = kernel == 0;
        Form image = connected ? Form.of(FLOAT32, 1, in) : Form.of(FLOAT32, 1, height, width, in);
        int x = model.operator("ABS", Optional.empty(), image, model.input(image));
        int depth = Math.max(1, kernel * kernel) * in;
        float spread = (float) Math.sqrt(2.0 / depth);
        Form filter =
                connected ? Form.of(FLOAT32, out, in) : Form.of(FLOAT32, out, kernel, kernel, in);
        int weights = model.constant(filter, gaussian(random, out * depth, spread));
        int bias = model.constant(Form.of(FLOAT32, out), gaussian(random, out, .1f));
        Form result =
                connected
                        ? Form.of(FLOAT32, 1, out)
                        : Form.of(FLOAT32, 1, outputs(height), outputs(width), out);
        int y =
                model.operator(
                        connected ? "FULLY_CONNECTED" : "CONV_2D",
                        Optional.of(options(connected)),
                        result,
                        x,
                        weights,
                        bias);
        return model.output(model.operator("ABS", Optional.empty(), result, y)).build();
    }

    private FlatTable options(boolean connected) {
        return connected
                ? FlatTable.of("FullyConnectedOptions")
                        .with("fused_activation_function", activation)
                : FlatTable.of("Conv2DOptions")
                        .with("padding", padding)
                        .with("stride_w", stride)
                        .with("stride_h", stride)
                        .with("fused_activation_function", activation);
    }

    private static ByteBuffer gaussian(Random random, int count, float spread) {
        ByteBuffer values =
                ByteBuffer.allocateDirect(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            values.putFloat((float) (spread * random.nextGaussian()));
        }
        return values.flip();
    }
}
