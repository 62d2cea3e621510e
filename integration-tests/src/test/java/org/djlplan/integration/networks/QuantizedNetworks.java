package org.djlplan.integration.networks;

import java.util.List;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.integration.networks.CalibratedNetwork.Value;
import org.djlplan.integration.networks.CalibratedNetwork.Weights;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Classifiers in 8 bits, as converters write them after training: weights with a scale for each
 * output channel, activations with scales from a sample, and 32-bit biases. Inputs are {@code [1,
 * side, side, 3]}, outputs {@code [1, 1001]}.
 */
public final class QuantizedNetworks {

    private static final int CLASSES = 1001;
    private static final int KERNEL = 3;
    private static final int HEAD = 1280;
    private static final int WIDTH = 1536;

    /** Table 2 of the paper of MobileNet v2. */
    private static final ImmutableList<Stage> MOBILE_NET_V2 =
            MobileNetV2.STAGES.stream()
                    .map(
                            stage ->
                                    new Stage(
                                            stage.expansion(),
                                            stage.channels(),
                                            stage.repetitions(),
                                            KERNEL,
                                            stage.stride()))
                    .collect(ImmutableList.toImmutableList());

    /**
     * Tan and Le 2019, <a href="https://arxiv.org/abs/1905.11946">EfficientNet</a>, table 1; the
     * form for integers has clipped rectifiers and no squeeze-and-excite.
     */
    private static final ImmutableList<Stage> EFFICIENT_NET_LITE =
            ImmutableList.of(
                    new Stage(1, 16, 1, 3, 1),
                    new Stage(6, 24, 2, 3, 2),
                    new Stage(6, 40, 2, 5, 2),
                    new Stage(6, 80, 3, 3, 2),
                    new Stage(6, 112, 3, 5, 1),
                    new Stage(6, 192, 4, 5, 2),
                    new Stage(6, 320, 1, 3, 1));

    /** Bottlenecks in a row; the first one has the stride. */
    private record Stage(int expansion, int channels, int repetitions, int kernel, int stride) {}

    private QuantizedNetworks() {}

    /** Returns MobileNet v1. */
    public static TfLiteFile mobileNetV1(long seed, int side) {
        return mobileNetV1(seed, Weights.INT8_CHANNELS, side);
    }

    /** Returns MobileNet v1 with unsigned numbers, and one scale for each tensor of weights. */
    public static TfLiteFile unsignedMobileNetV1(long seed, int side) {
        return mobileNetV1(seed, Weights.UINT8, side);
    }

    private static TfLiteFile mobileNetV1(long seed, Weights weights, int side) {
        CalibratedNetwork network = new CalibratedNetwork(seed, weights, 0);
        Value x = network.clipped(network.input(side, 3), 32, KERNEL, 2);
        for (MobileNetV1.Block block : MobileNetV1.BLOCKS) {
            x = network.clippedDepthwise(x, KERNEL, block.stride());
            x = network.clipped(x, block.channels(), 1, 1);
        }
        network.softmax(network.average(x), CLASSES);
        return network.build();
    }

    /** Returns MobileNet v2. */
    public static TfLiteFile mobileNetV2(long seed, int side) {
        return bottlenecks(seed, Weights.INT8_CHANNELS, side, MOBILE_NET_V2);
    }

    /** Returns MobileNet v2 with 8-bit weights, and floats between the layers. */
    public static TfLiteFile dynamicRange(long seed, int side) {
        return bottlenecks(seed, Weights.DYNAMIC_RANGE, side, MOBILE_NET_V2);
    }

    /** Returns the same model as {@link #dynamicRange}, with its weights' values as floats. */
    public static TfLiteFile dynamicRangeAsFloats(long seed, int side) {
        return bottlenecks(seed, Weights.DYNAMIC_RANGE_AS_FLOATS, side, MOBILE_NET_V2);
    }

    /** Returns EfficientNet lite 0. */
    public static TfLiteFile efficientNetLite(long seed, int side) {
        return bottlenecks(seed, Weights.INT8_CHANNELS, side, EFFICIENT_NET_LITE);
    }

    /** Returns a network whose weights are most of its memory. */
    public static TfLiteFile wide(long seed) {
        CalibratedNetwork network = new CalibratedNetwork(seed, Weights.INT8_CHANNELS, 0);
        Value x = network.clipped(network.input(16, 3), 128, KERNEL, 2);
        x = network.clipped(x, WIDTH, KERNEL, 2);
        for (int i = 0; i < 8; i++) {
            x = network.clipped(x, WIDTH, 1, 1);
        }
        network.vector(network.clipped(x, 128, 1, 1), 200);
        return network.build();
    }

    private static TfLiteFile bottlenecks(long seed, Weights weights, int side, List<Stage> all) {
        CalibratedNetwork network = new CalibratedNetwork(seed, weights, 0);
        Value x = network.clipped(network.input(side, 3), 32, KERNEL, 2);
        for (Stage stage : all) {
            for (int i = 0; i < stage.repetitions(); i++) {
                int stride = i == 0 ? stage.stride() : 1;
                x =
                        network.bottleneck(
                                x, stage.expansion(), stage.channels(), stage.kernel(), stride);
            }
        }
        network.softmax(network.average(network.clipped(x, HEAD, 1, 1)), CLASSES);
        return network.build();
    }
}
