package org.djlplan.integration.networks;

import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.cli.demo.Activation;
import org.djlplan.memplan.cli.demo.NetworkBuilder;
import org.djlplan.memplan.cli.demo.Value;
import org.djlplan.memplan.source.tflite.TfLiteFile;

/**
 * Inverted bottlenecks with depthwise kernels of several sizes side by side, joined by
 * concatenation, for images of 64 × 64 × 3. The operators stand in the file layer by layer, as a
 * converter writes them that goes through the graph breadth first: first the expansion of all
 * branches, then all depthwise convolutions, then all projections.
 *
 * <p>Bottlenecks as in Sandler et al. 2018, <a
 * href="https://arxiv.org/abs/1801.04381">MobileNetV2</a>, figure 3(d); kernels of several sizes as
 * in Tan and Le 2019, <a href="https://arxiv.org/abs/1907.09595">MixConv</a>, section 3.1, but a
 * branch for each.
 */
public final class ParallelBottlenecks {

    private static final int[] KERNELS = {3, 5, 7, 9};
    private static final int EXPANSION = 6;

    private ParallelBottlenecks() {}

    /** Returns the network; its input is {@code [1, 64, 64, 3]}, its output {@code [1, 10]}. */
    public static TfLiteFile build(long seed) {
        NetworkBuilder network = new NetworkBuilder("Parallel bottlenecks, random weights", seed);
        Value x = network.input("input", 1, 64, 64, 3);
        x = network.conv2d(x, 16, 3, 2, Activation.RELU6);
        x = module(network, x, 1, 8);
        x = module(network, x, 2, 12);
        x = module(network, x, 1, 12);
        x = network.mean(x);
        x = network.fullyConnected(x, 10, Activation.NONE);
        return network.output(network.softmax(x)).build();
    }

    private static Value module(NetworkBuilder network, Value x, int stride, int channels) {
        List<Value> branches = new ArrayList<>();
        for (int i = 0; i < KERNELS.length; i++) {
            int expanded = EXPANSION * x.dimension(-1);
            branches.add(network.conv2d(x, expanded, 1, 1, Activation.RELU6));
        }
        for (int i = 0; i < KERNELS.length; i++) {
            Value wide = branches.get(i);
            branches.set(i, network.depthwiseConv2d(wide, KERNELS[i], stride, Activation.RELU6));
        }
        branches.replaceAll(wide -> network.conv2d(wide, channels, 1, 1, Activation.NONE));
        return network.concat(3, branches.toArray(Value[]::new));
    }
}
