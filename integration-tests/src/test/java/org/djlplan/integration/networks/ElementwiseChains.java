package org.djlplan.integration.networks;

import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;

/**
 * Chains of element-wise operators and views, which gain most if operators write in place. The
 * network has a gated and a plain branch; both are reshaped back and forth and scaled up at the
 * end. It has two outputs.
 */
public final class ElementwiseChains {

    private ElementwiseChains() {}

    /**
     * Returns the network; its input is {@code [1, 32, 32, 8]}, its outputs are an image and 10
     * numbers.
     */
    public static TfLiteFile build(long seed) {
        NetworkBuilder network = new NetworkBuilder("Chains, random weights", seed);
        LayerOutput input = network.input("input", 1, 32, 32, 8);
        LayerOutput x = network.conv2d(input, 16, 3, 1, Activation.NONE);
        LayerOutput gate = network.unary("LOGISTIC", network.conv2d(x, 16, 1, 1, Activation.NONE));
        LayerOutput plain = network.unary("HARD_SWISH", network.unary("TANH", x));
        x = network.mul(x, gate, Activation.NONE);
        x = network.unary("RELU", network.add(x, plain, Activation.NONE));
        LayerOutput flat = network.reshape(x, 1, 32 * 32, 1, 16);
        flat = network.squeeze(flat, 2);
        flat = network.sub(network.unary("ABS", flat), flat, Activation.NONE);
        x = network.add(network.reshape(flat, 1, 32, 32, 16), x, Activation.RELU6);
        LayerOutput image =
                network.resizeBilinear(network.conv2d(x, 3, 1, 1, Activation.NONE), 64, 64);
        LayerOutput numbers = network.fullyConnected(network.mean(x), 10, Activation.NONE);
        return network.output(network.unary("LOGISTIC", image)).output(numbers).build();
    }
}
