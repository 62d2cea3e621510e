package org.djlplan.integration.paper;

import static org.djlplan.integration.networks.MobileNetV1.BLOCKS;

import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.Padding;
import org.djlplan.integration.networks.MobileNetV1.Block;

/**
 * MobileNet v1 1.0 for images of 224 × 224 × 3 and 1001 classes; output stride 32 before the
 * average pooling.
 *
 * <p>Layers as in Howard et al. 2017, <a href="https://arxiv.org/abs/1704.04861">MobileNets</a>,
 * table 1; the end (classifier as convolution, reshape, softmax) as in {@code research/slim/nets/
 * mobilenet_v1.py} of tensorflow/models and the files that TFLite hosts.
 */
final class MobileNetV1 {

    static final int CLASSES = 1001;

    private static final int STEM_CHANNELS = 32;

    private MobileNetV1() {}

    static NetworkSketch sketch() {
        LayeredGraph network = new LayeredGraph("mobilenet_v1_1.0_224");
        LayerOutput x = features(network, network.input(1, 224, 224, 3));
        return network.output(classes(network, x)).build();
    }

    /** Adds all layers before the average pooling. */
    static LayerOutput features(LayeredGraph network, LayerOutput image) {
        LayerOutput x = network.conv2d(image, STEM_CHANNELS, 3, 2);
        for (Block block : BLOCKS) {
            x = network.depthwiseConv2d(x, 3, block.stride());
            x = network.conv2d(x, block.channels(), 1, 1);
        }
        return x;
    }

    /** Adds the last layers, which slim's networks have in common. */
    static LayerOutput classes(LayeredGraph network, LayerOutput features) {
        LayerOutput x = network.averagePool(features, features.dimension(1), 1, Padding.VALID);
        x = network.conv2d(x, CLASSES, 1, 1);
        return network.softmax(network.reshape(x, 1, CLASSES));
    }
}
