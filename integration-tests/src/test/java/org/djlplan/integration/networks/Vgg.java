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
 * Plain networks of 3 × 3 convolutions that end in large fully connected layers. The first
 * convolutions have the largest activations; the first fully connected layer has most of the
 * weights.
 *
 * <p>Layers as in Simonyan and Zisserman 2014, <a href="https://arxiv.org/abs/1409.1556">Very Deep
 * Convolutional Networks</a>, table 1.
 *
 * @param side height and width of the image
 * @param width channels of the first stage; the next ones have twice as many, up to eight times
 * @param convolutions number of convolutions in each stage, which ends with a pooling that halves
 *     the image
 * @param units outputs of each of the two hidden fully connected layers
 * @param classes number of the output's elements
 */
public record Vgg(int side, int width, List<Integer> convolutions, int units, int classes) {

    /** Configuration E, with 19 layers: 575 MB of weights. */
    public static final Vgg VGG_19 = new Vgg(224, 64, ImmutableList.of(2, 2, 4, 4, 4), 4096, 1000);

    /** The same kind of network in 23 MB. */
    public static final Vgg SMALL = new Vgg(64, 32, ImmutableList.of(1, 1, 2, 2, 2), 1408, 100);

    private static final int WIDEST = 8;

    /** The deviation of the softmax's input is about 1, so no class gets all probability. */
    private static final double LOGITS = 0.5;

    public Vgg {
        convolutions = ImmutableList.copyOf(convolutions);
    }

    /**
     * Returns the network; its input is {@code [1, side, side, 3]}, its output {@code [1,
     * classes]}.
     *
     * @param memory makes the buffers of the weights
     */
    public TfLiteFile build(long seed, IntFunction<ByteBuffer> memory) {
        NetworkBuilder network = new NetworkBuilder("VGG, random weights", seed, memory);
        LayerOutput x = network.input("input", 1, side, side, 3);
        for (int stage = 0; stage < convolutions.size(); stage++) {
            int channels = width * Math.min(WIDEST, 1 << stage);
            for (int i = 0; i < convolutions.get(stage); i++) {
                x = network.conv2d(x, channels, 3, 1, Activation.RELU);
            }
            x = network.maxPool(x, 2, 2, Padding.VALID);
        }
        x = network.reshape(x, 1, x.dimension(1) * x.dimension(2) * x.dimension(3));
        x = network.fullyConnected(x, units, Activation.RELU);
        x = network.fullyConnected(x, units, Activation.RELU);
        x = network.scaled(LOGITS).fullyConnected(x, classes, Activation.NONE);
        return network.output(network.softmax(x)).build();
    }
}
