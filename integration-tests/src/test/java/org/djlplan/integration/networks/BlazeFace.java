package org.djlplan.integration.networks;

import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.cli.demo.Padding;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;

/**
 * BlazeFace, front camera: images of 128 × 128 × 3, 896 anchors, and two outputs, each of which
 * joins two branches.
 *
 * <p>As in Bazarevsky et al. 2019, <a href="https://arxiv.org/abs/1907.05047">BlazeFace</a>, in the
 * form that MediaPipe ships: single blocks throughout, channels that grow by 4 to 8.
 */
public final class BlazeFace {

    private static final int VALUES_PER_ANCHOR = 16;

    /** Channels of each block; negative if the block halves height and width. */
    private static final int[] FINE = {24, 28, -32, 36, 42, -48, 56, 64, 72, 80, 88};

    private static final int[] COARSE = {-96, 96, 96, 96, 96};

    private BlazeFace() {}

    /**
     * Returns the network; its outputs are boxes {@code [1, 896, 16]} and scores {@code [1, 896,
     * 1]}.
     */
    public static TfLiteFile build(long seed) {
        NetworkBuilder network = new NetworkBuilder("BlazeFace, random weights", seed);
        LayerOutput x = network.input("input", 1, 128, 128, 3);
        x = network.conv2d(x, 24, 5, 2, Activation.RELU);
        LayerOutput fine = blocks(network, x, FINE);
        LayerOutput coarse = blocks(network, fine, COARSE);
        LayerOutput scores =
                network.concat(1, head(network, fine, 2, 1), head(network, coarse, 6, 1));
        LayerOutput boxes =
                network.concat(
                        1,
                        head(network, fine, 2, VALUES_PER_ANCHOR),
                        head(network, coarse, 6, VALUES_PER_ANCHOR));
        return network.output(boxes).output(scores).build();
    }

    private static LayerOutput blocks(NetworkBuilder network, LayerOutput x, int[] channels) {
        LayerOutput y = x;
        for (int count : channels) {
            y = block(network, y, Math.abs(count), count < 0 ? 2 : 1);
        }
        return y;
    }

    private static LayerOutput block(
            NetworkBuilder network, LayerOutput x, int channels, int stride) {
        LayerOutput y = network.depthwiseConv2d(x, 5, stride, Activation.NONE);
        y = network.conv2d(y, channels, 1, 1, Activation.NONE);
        LayerOutput shortcut = stride == 1 ? x : network.maxPool(x, 2, 2, Padding.SAME);
        int more = channels - x.dimension(-1);
        if (more > 0) {
            shortcut = network.pad(shortcut, 0, 0, 0, 0, 0, 0, 0, more);
        }
        return network.add(shortcut, y, Activation.RELU);
    }

    private static LayerOutput head(
            NetworkBuilder network, LayerOutput x, int anchors, int values) {
        LayerOutput y = network.conv2d(x, anchors * values, 1, 1, Activation.NONE);
        return network.reshape(y, 1, x.dimension(1) * x.dimension(2) * anchors, values);
    }
}
