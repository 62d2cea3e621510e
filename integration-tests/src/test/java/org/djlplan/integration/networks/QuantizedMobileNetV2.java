package org.djlplan.integration.networks;

import org.djlplan.integration.networks.CalibratedNetwork.Value;
import org.djlplan.integration.networks.CalibratedNetwork.Weights;
import org.djlplan.memplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.source.tflite.TfLiteFile;

/**
 * {@link MobileNetV2} in 8 bits, as converters write it after training: weights with a scale for
 * each channel of the output, activations with scales from a sample, biases of 32 bits.
 */
public final class QuantizedMobileNetV2 {

    private static final int CLASSES = 1001;

    private QuantizedMobileNetV2() {}

    /**
     * Returns the network with all tensors in 8 bits.
     *
     * @param side of the image: its input is {@code [1, side, side, 3]}
     */
    public static TfLiteFile build(long seed, int side) {
        return build(new CalibratedNetwork(seed, Weights.INT8_CHANNELS, 0), side);
    }

    /** Returns the network with weights in 8 bits, and floats between the layers. */
    public static TfLiteFile dynamicRange(long seed, int side) {
        return build(new CalibratedNetwork(seed, Weights.DYNAMIC_RANGE, 0), side);
    }

    private static TfLiteFile build(CalibratedNetwork network, int side) {
        Value x = network.clipped(network.input(side, 3), 32, 3, 2);
        for (MobileNetV2.Stage stage : MobileNetV2.STAGES) {
            for (int i = 0; i < stage.repetitions(); i++) {
                int stride = i == 0 ? stage.stride() : 1;
                x = network.bottleneck(x, stage.expansion(), stage.channels(), stride);
            }
        }
        network.softmax(network.average(network.clipped(x, 1280, 1, 1)), CLASSES);
        return network.build();
    }
}
