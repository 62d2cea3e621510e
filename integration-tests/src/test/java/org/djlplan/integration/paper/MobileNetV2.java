package org.djlplan.integration.paper;

import org.djlplan.cli.demo.LayerOutput;

/**
 * MobileNet v2 1.0 for images of 224 × 224 × 3 and 1001 classes; output stride 32 before the
 * average pooling.
 *
 * <p>Layers as in Sandler et al. 2018, <a href="https://arxiv.org/abs/1801.04381">MobileNetV2</a>,
 * table 2, which is {@code V2_DEF} in {@code research/slim/nets/mobilenet/mobilenet_v2.py} of
 * tensorflow/models; the last layers as in that file.
 */
final class MobileNetV2 {

    private static final int STEM_CHANNELS = 32;
    private static final int LAST_CHANNELS = 1280;

    /** Table 2: expansion t, channels c, repetitions n, stride s of the first. */
    private static final int[][] STAGES = {
        {1, 16, 1, 1},
        {6, 24, 2, 2},
        {6, 32, 3, 2},
        {6, 64, 4, 2},
        {6, 96, 3, 1},
        {6, 160, 3, 2},
        {6, 320, 1, 1},
    };

    private MobileNetV2() {}

    static NetworkSketch sketch() {
        LayeredGraph network = new LayeredGraph("mobilenet_v2_1.0_224");
        LayerOutput x = bottlenecks(network, network.input(1, 224, 224, 3), 1, 32);
        x = network.conv2d(x, LAST_CHANNELS, 1, 1);
        return network.output(MobileNetV1.classes(network, x)).build();
    }

    /**
     * Adds the first convolution and all bottlenecks.
     *
     * @param widthDivisor divisor of every layer's channels
     * @param outputStride the largest product of strides; further strides are left out, as in slim,
     *     which dilates the later kernels instead
     */
    static LayerOutput bottlenecks(
            LayeredGraph network, LayerOutput image, int widthDivisor, int outputStride) {
        LayerOutput x = network.conv2d(image, STEM_CHANNELS / widthDivisor, 3, 2);
        int reached = 2;
        for (int[] stage : STAGES) {
            for (int i = 0; i < stage[2]; i++) {
                int stride = i == 0 && reached < outputStride ? stage[3] : 1;
                reached *= stride;
                x = bottleneck(network, x, stage[0], stage[1] / widthDivisor, stride);
            }
        }
        return x;
    }

    private static LayerOutput bottleneck(
            LayeredGraph network, LayerOutput x, int expansion, int channels, int stride) {
        LayerOutput y = expansion > 1 ? network.conv2d(x, expansion * x.dimension(3), 1, 1) : x;
        y = network.depthwiseConv2d(y, 3, stride);
        y = network.conv2d(y, channels, 1, 1);
        return x.shape().equals(y.shape()) ? network.add(y, x) : y;
    }
}
