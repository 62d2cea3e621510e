package org.djlplan.integration.networks;

import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.cli.demo.Padding;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;

/**
 * A short network of Inception modules for images of 96 × 96 × 3. A module has four branches,
 * joined by a concatenation.
 *
 * <p>Modules as in Szegedy et al. 2014, <a href="https://arxiv.org/abs/1409.4842">Going Deeper with
 * Convolutions</a>, figure 2(b) and rows 3a to 4a of table 1.
 */
public final class Inception {

    private Inception() {}

    /** Returns the network; its input is {@code [1, 96, 96, 3]}, its output {@code [1, 100]}. */
    public static TfLiteFile build(long seed) {
        NetworkBuilder network = new NetworkBuilder("Inception modules, random weights", seed);
        LayerOutput x = network.input("input", 1, 96, 96, 3);
        x = network.conv2d(x, 64, 7, 2, Activation.RELU);
        x = network.maxPool(x, 3, 2, Padding.SAME);
        x = module(network, x, 64, 96, 128, 16, 32, 32);
        x = module(network, x, 128, 128, 192, 32, 96, 64);
        x = network.maxPool(x, 3, 2, Padding.SAME);
        x = module(network, x, 192, 96, 208, 16, 48, 64);
        x = network.mean(x);
        x = network.fullyConnected(x, 100, Activation.NONE);
        return network.output(network.softmax(x)).build();
    }

    private static LayerOutput module(
            NetworkBuilder network,
            LayerOutput x,
            int ones,
            int threesReduce,
            int threes,
            int fivesReduce,
            int fives,
            int pooled) {
        LayerOutput a = network.conv2d(x, ones, 1, 1, Activation.RELU);
        LayerOutput b = network.conv2d(x, threesReduce, 1, 1, Activation.RELU);
        b = network.conv2d(b, threes, 3, 1, Activation.RELU);
        LayerOutput c = network.conv2d(x, fivesReduce, 1, 1, Activation.RELU);
        c = network.conv2d(c, fives, 5, 1, Activation.RELU);
        LayerOutput d = network.maxPool(x, 3, 1, Padding.SAME);
        d = network.conv2d(d, pooled, 1, 1, Activation.RELU);
        return network.concat(3, a, b, c, d);
    }
}
