package org.djlplan.integration.networks;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.IntFunction;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.cli.demo.Padding;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Residual networks of bottlenecks, with the batch normalizations folded into the convolutions, as
 * by a converter.
 *
 * <p>Layers as in He et al. 2015, <a href="https://arxiv.org/abs/1512.03385">Deep Residual
 * Learning</a>, table 1; the stride of a bottleneck is in its 3 × 3 convolution, as in torchvision.
 *
 * @param side height and width of the image
 * @param width channels of the first convolution
 * @param blocks bottlenecks of each stage; every stage but the first halves the image and doubles
 *     the channels
 * @param classes number of the output's elements
 */
public record ResNet(int side, int width, List<Integer> blocks, int classes) {

    /** The network with 152 layers: 240 MB of weights. */
    public static final ResNet RESNET_152 =
            new ResNet(224, 64, ImmutableList.of(3, 8, 36, 3), 1000);

    /** The same kind of network in 15 MB; the last stage has most of the weights. */
    public static final ResNet SMALL = new ResNet(64, 40, ImmutableList.of(1, 1, 2, 1), 100);

    /** Factor by which a bottleneck's input and output are wider than its inside. */
    private static final int EXPANSION = 4;

    /** A bottleneck's added values are small beside its input, as at the end of a training. */
    private static final double BRANCH = 0.2;

    /** The deviation of the softmax's input is about 1, so no class gets all probability. */
    private static final double LOGITS = 0.5;

    public ResNet {
        blocks = ImmutableList.copyOf(blocks);
    }

    /**
     * Returns the network; its input is {@code [1, side, side, 3]}, its output {@code [1,
     * classes]}.
     *
     * @param memory makes the buffers of the weights
     */
    public TfLiteFile build(long seed, IntFunction<ByteBuffer> memory) {
        NetworkBuilder network = new NetworkBuilder("ResNet, random weights", seed, memory);
        LayerOutput x = network.input("input", 1, side, side, 3);
        x = network.conv2d(x, width, 7, 2, Activation.RELU);
        x = network.maxPool(x, 3, 2, Padding.SAME);
        for (int stage = 0; stage < blocks.size(); stage++) {
            for (int block = 0; block < blocks.get(stage); block++) {
                int stride = stage > 0 && block == 0 ? 2 : 1;
                x = bottleneck(network, x, width << stage, stride);
            }
        }
        x = network.mean(x);
        x = network.scaled(LOGITS).fullyConnected(x, classes, Activation.NONE);
        return network.output(network.softmax(x)).build();
    }

    private static LayerOutput bottleneck(
            NetworkBuilder network, LayerOutput x, int channels, int stride) {
        int outputs = EXPANSION * channels;
        boolean same = stride == 1 && x.dimension(-1) == outputs;
        LayerOutput shortcut = same ? x : network.conv2d(x, outputs, 1, stride, Activation.NONE);
        LayerOutput y = network.conv2d(x, channels, 1, 1, Activation.RELU);
        y = network.conv2d(y, channels, 3, stride, Activation.RELU);
        y = network.scaled(BRANCH).conv2d(y, outputs, 1, 1, Activation.NONE);
        return network.scaled(1).add(y, shortcut, Activation.RELU);
    }
}
