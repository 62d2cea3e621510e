package org.djlplan.integration.networks;

import java.util.Map;
import java.util.function.Supplier;
import org.djlplan.integration.networks.CalibratedNetwork.Value;
import org.djlplan.integration.networks.CalibratedNetwork.Weights;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Networks similar to published detectors of landmarks: depthwise and pointwise convolutions with
 * residual sums and rectifiers, and several outputs (landmarks, a score near 1, a mask, a heat
 * map). If inputs change by one unit in the last place, most outputs move by 1e-4 to 1e-3 of their
 * largest element, as in large trained networks.
 */
public final class HardNetworks {

    private static final ImmutableMap<String, Supplier<TfLiteFile>> NETWORKS =
            ImmutableMap.<String, Supplier<TfLiteFile>>builder()
                    .put("hard_landmarks", () -> landmarks(1))
                    .put("hard_face", () -> face(2))
                    .put("hard_pose", () -> pose(3))
                    .put("hard_mask", () -> mask(4))
                    .put("hard_classes", () -> classes(5))
                    .put("hard_small", () -> small(6))
                    .put("quantized_classes", () -> quantizedClasses(7))
                    .put("quantized_landmarks", () -> quantizedLandmarks(8))
                    .put("quantized_small", () -> quantizedSmall(9))
                    .buildOrThrow();

    private HardNetworks() {}

    /** Returns all networks by name. */
    public static Map<String, Supplier<TfLiteFile>> all() {
        return NETWORKS;
    }

    /** Returns the names of the networks of floats that take at least 50 ms in CPU kernels. */
    public static ImmutableList<String> large() {
        return ImmutableList.of(
                "hard_landmarks", "hard_face", "hard_pose", "hard_mask", "hard_classes");
    }

    /** 256 × 256; 63 landmarks, two scores, world landmarks. */
    private static TfLiteFile landmarks(long seed) {
        CalibratedNetwork net = new CalibratedNetwork(seed, Weights.FLOAT16, 1.5);
        Value x = net.convolution(net.input(256, 3), 24, 3, 2);
        x = net.stage(x, 24, 3);
        x = net.stage(net.down(x, 48), 48, 5);
        x = net.stage(net.down(x, 96), 96, 7);
        x = net.stage(net.down(x, 128), 128, 8);
        x = net.stage(net.down(x, 192), 192, 6);
        net.vector(x, 63);
        net.score(x);
        net.score(x);
        net.vector(x, 63);
        return net.build();
    }

    /** 192 × 192; 1404 landmarks and a score. */
    private static TfLiteFile face(long seed) {
        CalibratedNetwork net = new CalibratedNetwork(seed, Weights.FLOAT16, .8);
        Value x = net.convolution(net.input(192, 3), 32, 3, 2);
        x = net.stage(x, 32, 4);
        x = net.stage(net.down(x, 64), 64, 8);
        x = net.stage(net.down(x, 128), 128, 10);
        x = net.steeper(2.6).stage(net.down(x, 128), 128, 10);
        x = net.stage(net.down(x, 128), 128, 4);
        net.vector(x, 1404);
        net.score(x);
        return net.build();
    }

    /** 256 × 256, deep; landmarks, a score, a mask, a heat map and world landmarks. */
    private static TfLiteFile pose(long seed) {
        CalibratedNetwork net = new CalibratedNetwork(seed, Weights.FLOAT16, 1.4);
        Value x = net.convolution(net.input(256, 3), 24, 3, 2);
        Value a = net.stage(x, 24, 4);
        Value b = net.stage(net.down(a, 48), 48, 10);
        Value c = net.stage(net.down(b, 96), 96, 14);
        Value d = net.stage(net.down(c, 160), 160, 18);
        Value e = net.stage(net.down(d, 224), 224, 12);
        Value up = net.stage(net.up(e, d), 160, 2);
        up = net.stage(net.up(up, c), 96, 2);
        up = net.stage(net.up(up, b), 48, 2);
        Value fine = net.up(up, a);
        net.vector(e, 195);
        net.score(e);
        net.mask(fine);
        net.map(up, 39);
        net.vector(e, 117);
        return net.build();
    }

    /** 256 × 256; a mask and nothing else. */
    private static TfLiteFile mask(long seed) {
        CalibratedNetwork net = new CalibratedNetwork(seed, Weights.FLOAT16, .5);
        Value x = net.convolution(net.input(256, 3), 16, 3, 2);
        Value a = net.stage(x, 16, 4);
        Value b = net.stage(net.down(a, 32), 32, 8);
        Value c = net.stage(net.down(b, 64), 64, 12);
        Value d = net.stage(net.down(c, 128), 128, 12);
        net.steeper(2.5);
        Value up = net.stage(net.up(d, c), 64, 4);
        up = net.stage(net.up(up, b), 32, 4);
        net.mask(net.stage(net.up(up, a), 16, 4));
        return net.build();
    }

    /** 160 × 160, weights of 32 bits; 1001 classes by softmax, and an embedding. */
    private static TfLiteFile classes(long seed) {
        CalibratedNetwork net = new CalibratedNetwork(seed, Weights.FLOAT32, 1.4);
        Value x = net.convolution(net.input(160, 3), 32, 3, 2);
        x = net.stage(x, 32, 10);
        x = net.stage(net.down(x, 96), 96, 20);
        x = net.stage(net.down(x, 192), 192, 25);
        x = net.stage(net.down(x, 256), 256, 15);
        net.softmax(x, 1001);
        net.vector(x, 128);
        return net.build();
    }

    /** 64 × 64, for tests that take seconds; landmarks, a score and a heat map. */
    private static TfLiteFile small(long seed) {
        CalibratedNetwork net = new CalibratedNetwork(seed, Weights.FLOAT16, 1.9);
        Value x = net.convolution(net.input(64, 3), 16, 3, 2);
        x = net.stage(x, 16, 6);
        x = net.stage(net.down(x, 32), 32, 12);
        Value y = net.stage(net.down(x, 48), 48, 12);
        net.vector(y, 42);
        net.score(y);
        net.map(x, 7);
        return net.build();
    }

    /** 96 × 96; 100 classes by softmax. */
    private static TfLiteFile quantizedClasses(long seed) {
        CalibratedNetwork net = new CalibratedNetwork(seed, Weights.INT8, 0);
        Value x = net.convolution(net.input(96, 3), 16, 3, 2);
        x = net.stage(x, 16, 2);
        x = net.stage(net.down(x, 32), 32, 4);
        x = net.stage(net.down(x, 64), 64, 4);
        x = net.stage(net.down(x, 96), 96, 2);
        net.softmax(x, 100);
        return net.build();
    }

    /** 96 × 96; 63 landmarks, a score and a heat map. */
    private static TfLiteFile quantizedLandmarks(long seed) {
        CalibratedNetwork net = new CalibratedNetwork(seed, Weights.INT8, 0);
        Value x = net.convolution(net.input(96, 3), 16, 3, 2);
        x = net.stage(x, 16, 2);
        Value y = net.stage(net.down(x, 32), 32, 6);
        x = net.stage(net.down(y, 64), 64, 8);
        net.vector(x, 63);
        net.score(x);
        net.map(y, 5);
        return net.build();
    }

    /** 32 × 32, for tests that take seconds; 20 classes by softmax. */
    private static TfLiteFile quantizedSmall(long seed) {
        CalibratedNetwork net = new CalibratedNetwork(seed, Weights.INT8, 0);
        Value x = net.convolution(net.input(32, 3), 8, 3, 2);
        x = net.stage(x, 8, 2);
        x = net.stage(net.down(x, 16), 16, 3);
        net.softmax(x, 20);
        return net.build();
    }
}
