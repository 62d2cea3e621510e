package org.djlplan.integration.paper;

import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.Padding;

/**
 * DeepLab v3 on MobileNet v2 of half width, for images of 257 × 257 × 3 and 21 classes; output
 * stride 8, hence features of 33 × 33.
 *
 * <p>Chen et al. 2017, <a href="https://arxiv.org/abs/1706.05587">Rethinking Atrous Convolution for
 * Semantic Image Segmentation</a>, with the 70 operators of TFLite's hosted {@code
 * deeplabv3_257_mv_gpu.tflite}. The backbone is {@code mobilenetv2_dm05} of tensorflow/models
 * ({@code research/deeplab}). Dilated convolutions are single operators, without space-to-batch.
 * The pyramid has only two branches, image pooling and a 1 × 1 convolution ({@code model.py},
 * {@code _extract_features} without atrous rates).
 */
final class DeepLabV3 {

    static final int OUTPUT_STRIDE = 8;

    private static final int SIDE = 257;
    private static final int PYRAMID_CHANNELS = 256;
    private static final int CLASSES = 21;

    private DeepLabV3() {}

    static NetworkSketch sketch() {
        LayeredGraph network = new LayeredGraph("deeplabv3_257_mv_gpu");
        LayerOutput image = network.input(1, SIDE, SIDE, 3);
        LayerOutput x = MobileNetV2.bottlenecks(network, image, 2, OUTPUT_STRIDE);
        int side = x.dimension(1);
        LayerOutput pooled = network.averagePool(x, side, side, Padding.VALID);
        pooled = network.conv2d(pooled, PYRAMID_CHANNELS, 1, 1);
        pooled = network.resizeBilinear(pooled, side, side);
        LayerOutput ones = network.conv2d(x, PYRAMID_CHANNELS, 1, 1);
        x = network.concat(3, pooled, ones);
        x = network.conv2d(x, PYRAMID_CHANNELS, 1, 1);
        x = network.conv2d(x, CLASSES, 1, 1);
        // Scales twice: to the size of the features, which the output already has, and to that of
        // the image.
        x = network.resizeBilinear(x, side, side);
        return network.output(network.resizeBilinear(x, SIDE, SIDE)).build();
    }
}
