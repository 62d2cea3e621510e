package org.djlplan.integration.networks;

import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;

/**
 * Convolutions of large images with few channels. Each takes an indirection buffer, a pointer for
 * each of 3 × 3 places of the image: 4.7 MB.
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
