package org.djlplan.integration.networks;

import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;

/** A network of convolutions, which takes images of any size. */
public final class FullyConvolutional {

    private FullyConvolutional() {}

    /** Returns the network; its input is {@code [1, side, side, 3]} in the file. */
    public static TfLiteFile build(int channels, int side) {
        NetworkBuilder network = new NetworkBuilder("fully convolutional", 1);
        LayerOutput input = network.input("input", 1, side, side, 3);
        LayerOutput x = network.conv2d(input, channels, 3, 2, Activation.RELU);
        LayerOutput y = network.conv2d(x, channels, 3, 1, Activation.NONE);
        y = network.conv2d(network.unary("HARD_SWISH", y), channels, 3, 1, Activation.NONE);
        x = network.add(x, y, Activation.RELU);
        return network.output(network.conv2d(x, 4, 1, 1, Activation.NONE)).build();
    }
}
