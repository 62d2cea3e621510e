package org.djlplan.integration.paper;

import org.djlplan.cli.demo.LayerOutput;

/**
 * PoseNet on MobileNet v1 1.0, for images of 257 × 257 × 3; output stride 32, hence outputs of 9 ×
 * 9: heat maps and offsets of 17 key points, and displacements along the 16 edges between them,
 * forward and backward.
 *
 * <p>Papandreou et al. 2018, <a href="https://arxiv.org/abs/1803.08225">PersonLab</a>, in the form
 * of TFLite's hosted {@code posenet_mobilenet_v1_100_257x257_multi_kpt_stripped.tflite}: the shapes
 * of input and outputs are those in TensorFlow's Android example {@code Posenet.kt} ({@code
 * initOutputMap}). The layers are those of the integer version in terryky/tflite_gles_app: every
 * output is one 1 × 1 convolution of the last layer of MobileNet v1 before pooling.
 */
final class PoseNet {

    private static final int SIDE = 257;
    private static final int KEY_POINTS = 17;
    private static final int EDGES = 16;

    private PoseNet() {}

    static NetworkSketch sketch() {
        LayeredGraph network = new LayeredGraph("posenet_mobilenet_v1_100_257x257");
        LayerOutput x = MobileNetV1.features(network, network.input(1, SIDE, SIDE, 3));
        LayerOutput backward = network.conv2d(x, 2 * EDGES, 1, 1);
        LayerOutput forward = network.conv2d(x, 2 * EDGES, 1, 1);
        LayerOutput heatMaps = network.conv2d(x, KEY_POINTS, 1, 1);
        LayerOutput offsets = network.conv2d(x, 2 * KEY_POINTS, 1, 1);
        return network.output(heatMaps, offsets, forward, backward).build();
    }
}
