package org.djlplan.integration.networks;

import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.cli.demo.Padding;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * MobileNet v1 for images of 224 × 224 × 3 and 1001 classes.
 *
 * <p>Layers as in Howard et al. 2017, <a href="https://arxiv.org/abs/1704.04861">MobileNets</a>,
 * table 1; the last layers as in TFLite's own file.
 */
public final class MobileNetV1 {

    /** Table 1, from the second layer on. */
    public static final ImmutableList<Block> BLOCKS =
            ImmutableList.of(
                    new Block(1, 64),
                    new Block(2, 128),
                    new Block(1, 128),
                    new Block(2, 256),
                    new Block(1, 256),
                    new Block(2, 512),
                    new Block(1, 512),
                    new Block(1, 512),
                    new Block(1, 512),
                    new Block(1, 512),
                    new Block(1, 512),
                    new Block(2, 1024),
                    new Block(1, 1024));

    /**
     * A depthwise and a pointwise convolution.
     *
     * @param stride of the depthwise convolution
     * @param channels of the pointwise one
     */
    public record Block(int stride, int channels) {}

    private MobileNetV1() {}

    /** Returns the network; its input is {@code [1, 224, 224, 3]}, its output {@code [1, 1001]}. */
    public static TfLiteFile build(long seed) {
        NetworkBuilder network = new NetworkBuilder("MobileNet v1, random weights", seed);
        LayerOutput x = network.input("input", 1, 224, 224, 3);
        x = network.conv2d(x, 32, 3, 2, Activation.RELU6);
        for (Block block : BLOCKS) {
            x = network.depthwiseConv2d(x, 3, block.stride(), Activation.RELU6);
            x = network.conv2d(x, block.channels(), 1, 1, Activation.RELU6);
        }
        x = network.averagePool(x, 7, 7, Padding.VALID);
        x = network.conv2d(x, 1001, 1, 1, Activation.NONE);
        x = network.squeeze(x, 1, 2);
        return network.output(network.softmax(x)).build();
    }
}
