package org.djlplan.integration.paper;

import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.Padding;

/**
 * BlazeFace for the front camera: images of 128 × 128 × 3, features of strides 8 and 16, 896
 * anchors.
 *
 * <p>Bazarevsky et al. 2019, <a href="https://arxiv.org/abs/1907.05047">BlazeFace</a>, with the 90
 * operators of MediaPipe's {@code face_detection_front.tflite} of 2019: 16 single blocks with
 * kernels of 3 × 3 (the paper has 5 × 5 and double blocks), channels that grow by 4 to 8, and every
 * {@code RELU} an operator of its own. The later {@code face_detection_short_range.tflite} is the
 * same with weights of 16 bits.
 */
final class BlazeFace {

    private static final int VALUES_PER_ANCHOR = 16;
    private static final int KERNEL = 3;

    /** Channels of each block; negative if the block halves height and width. */
    private static final int[] FINE = {24, 28, -32, 36, 42, -48, 56, 64, 72, 80, 88};

    private static final int[] COARSE = {-96, 96, 96, 96, 96};

    private BlazeFace() {}

    static NetworkSketch sketch() {
        LayeredGraph network = new LayeredGraph("face_detection_front");
        LayerOutput x = network.relu(network.conv2d(network.input(1, 128, 128, 3), 24, 5, 2));
        LayerOutput fine = blocks(network, x, FINE);
        LayerOutput coarse = blocks(network, fine, COARSE);
        LayerOutput fineScores = network.conv2d(fine, 2, 1, 1);
        LayerOutput coarseScores = network.conv2d(coarse, 6, 1, 1);
        LayerOutput fineBoxes = network.conv2d(fine, 2 * VALUES_PER_ANCHOR, 1, 1);
        LayerOutput coarseBoxes = network.conv2d(coarse, 6 * VALUES_PER_ANCHOR, 1, 1);
        fineScores = network.reshape(fineScores, 1, 512, 1);
        coarseScores = network.reshape(coarseScores, 1, 384, 1);
        fineBoxes = network.reshape(fineBoxes, 1, 512, VALUES_PER_ANCHOR);
        coarseBoxes = network.reshape(coarseBoxes, 1, 384, VALUES_PER_ANCHOR);
        LayerOutput scores = network.concat(1, fineScores, coarseScores);
        LayerOutput boxes = network.concat(1, fineBoxes, coarseBoxes);
        return network.output(boxes, scores).build();
    }

    private static LayerOutput blocks(LayeredGraph network, LayerOutput x, int[] channels) {
        LayerOutput y = x;
        for (int count : channels) {
            y = block(network, y, Math.abs(count), count < 0 ? 2 : 1);
        }
        return y;
    }

    private static LayerOutput block(
            LayeredGraph network, LayerOutput x, int channels, int stride) {
        LayerOutput y = network.depthwiseConv2d(x, KERNEL, stride);
        LayerOutput shortcut = stride == 1 ? x : network.maxPool(x, 2, 2, Padding.SAME);
        y = network.conv2d(y, channels, 1, 1);
        int more = channels - x.dimension(-1);
        if (more > 0) {
            shortcut = network.padChannels(shortcut, more);
        }
        return network.relu(network.add(shortcut, y));
    }
}
