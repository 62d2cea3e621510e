package org.djlplan.integration.networks;

import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;

/**
 * Convolutions of large images with few channels. Each needs an indirection buffer of 4.7 MB: nine
 * pointers for each position of the image.
 */
public final class LargeImages {

    private static final int CONVOLUTIONS = 6;
    private static final int SIDE = 256;
    private static final int CHANNELS = 4;

    private LargeImages() {}

    /** Returns the network; its input and output are {@code [1, 256, 256, 4]}. */
    public static TfLiteFile build(long seed) {
        NetworkBuilder network = new NetworkBuilder("large images", seed);
        LayerOutput x = network.input("image", 1, SIDE, SIDE, CHANNELS);
        for (int i = 0; i < CONVOLUTIONS; i++) {
            x = network.conv2d(x, CHANNELS, 3, 1, Activation.RELU6);
        }
        return network.output(x).build();
    }
}
