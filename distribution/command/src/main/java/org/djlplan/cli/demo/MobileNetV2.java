package org.djlplan.cli.demo;

import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * MobileNet v2 for images of 224 × 224 × 3 and 1001 classes, with random weights.
 *
 * <p>Layers as in Sandler et al. 2018, <a href="https://arxiv.org/abs/1801.04381">MobileNetV2:
 * Inverted Residuals and Linear Bottlenecks</a>, table 2; the last layers are those of TensorFlow
 * Lite's own file.
 */
public final class MobileNetV2 {

    /** Table 2. */
    public static final ImmutableList<Stage> STAGES =
            ImmutableList.of(
                    new Stage(1, 16, 1, 1),
                    new Stage(6, 24, 2, 2),
                    new Stage(6, 32, 3, 2),
                    new Stage(6, 64, 4, 2),
                    new Stage(6, 96, 3, 1),
                    new Stage(6, 160, 3, 2),
                    new Stage(6, 320, 1, 1));

    /** The number of classes. */
    public static final int CLASSES = 1001;

    /**
     * Bottlenecks in a row.
     *
     * @param expansion t: factor of the channels inside a bottleneck
     * @param channels c: channels of the output
     * @param repetitions n: number of bottlenecks
     * @param stride s: stride of the first bottleneck
     */
    public record Stage(int expansion, int channels, int repetitions, int stride) {}

    private MobileNetV2() {}

    /** Returns the network; its input is {@code [1, 224, 224, 3]}, its output {@code [1, 1001]}. */
    public static TfLiteFile build(long seed) {
        NetworkBuilder network = new NetworkBuilder("MobileNet v2, random weights", seed);
        LayerOutput x = network.input("input", 1, 224, 224, 3);
        x = network.conv2d(x, 32, 3, 2, Activation.RELU6);
        for (Stage stage : STAGES) {
            for (int i = 0; i < stage.repetitions(); i++) {
                int stride = i == 0 ? stage.stride() : 1;
                x = bottleneck(network, x, stage.expansion(), stage.channels(), stride);
            }
        }
        x = network.conv2d(x, 1280, 1, 1, Activation.RELU6);
        x = network.averagePool(x, 7, 7, Padding.VALID);
        x = network.conv2d(x, CLASSES, 1, 1, Activation.NONE);
        x = network.squeeze(x, 1, 2);
        return network.output(network.softmax(x)).build();
    }

    private static LayerOutput bottleneck(
            NetworkBuilder network, LayerOutput x, int expansion, int channels, int stride) {
        LayerOutput y = x;
        if (expansion > 1) {
            y = network.conv2d(y, expansion * x.dimension(3), 1, 1, Activation.RELU6);
        }
        y = network.depthwiseConv2d(y, 3, stride, Activation.RELU6);
        y = network.conv2d(y, channels, 1, 1, Activation.NONE);
        return x.shape().equals(y.shape()) ? network.add(x, y, Activation.NONE) : y;
    }
}
