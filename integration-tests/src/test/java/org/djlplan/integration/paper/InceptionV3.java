package org.djlplan.integration.paper;

import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.Padding;

/**
 * Inception v3 for images of 299 × 299 × 3 and 1001 classes; output stride 32 (with valid padding:
 * features of 8 × 8).
 *
 * <p>Szegedy et al. 2015, <a href="https://arxiv.org/abs/1512.00567">Rethinking the Inception
 * Architecture for Computer Vision</a>, layer by layer in the order of {@code
 * research/slim/nets/inception_v3.py} of tensorflow/models, without the auxiliary classifier, which
 * only training uses.
 */
final class InceptionV3 {

    /** Channels of the last layer in the pooling branches of Mixed_5b, 5c and 5d. */
    private static final int[] MIXED_5 = {32, 64, 64};

    /** Channels inside the branches with 7 × 7 kernels of Mixed_6b to 6e. */
    private static final int[] MIXED_6 = {128, 160, 160, 192};

    private final LayeredGraph network = new LayeredGraph("inception_v3_299");

    private InceptionV3() {}

    static NetworkSketch sketch() {
        return new InceptionV3().build();
    }

    private NetworkSketch build() {
        LayerOutput x = stem(network.input(1, 299, 299, 3));
        for (int pooled : MIXED_5) {
            x = mixed5(x, pooled);
        }
        x = mixed6a(x);
        for (int channels : MIXED_6) {
            x = mixed6(x, channels);
        }
        x = mixed7(mixed7(mixed7a(x)));
        return network.output(MobileNetV1.classes(network, x)).build();
    }

    private LayerOutput stem(LayerOutput image) {
        LayerOutput x = valid(image, 32, 3, 2);
        x = valid(x, 32, 3, 1);
        x = same(x, 64, 3, 3);
        x = network.maxPool(x, 3, 2, Padding.VALID);
        x = valid(x, 80, 1, 1);
        x = valid(x, 192, 3, 1);
        return network.maxPool(x, 3, 2, Padding.VALID);
    }

    private LayerOutput mixed5(LayerOutput x, int pooled) {
        LayerOutput ones = same(x, 64, 1, 1);
        LayerOutput fives = same(same(x, 48, 1, 1), 64, 5, 5);
        LayerOutput threes = same(same(same(x, 64, 1, 1), 96, 3, 3), 96, 3, 3);
        return network.concat(3, ones, fives, threes, pooling(x, pooled));
    }

    private LayerOutput mixed6a(LayerOutput x) {
        LayerOutput threes = valid(x, 384, 3, 2);
        LayerOutput twice = valid(same(same(x, 64, 1, 1), 96, 3, 3), 96, 3, 2);
        return network.concat(3, threes, twice, network.maxPool(x, 3, 2, Padding.VALID));
    }

    private LayerOutput mixed6(LayerOutput x, int channels) {
        LayerOutput ones = same(x, 192, 1, 1);
        LayerOutput sevens = same(same(same(x, channels, 1, 1), channels, 1, 7), 192, 7, 1);
        LayerOutput twice = same(same(x, channels, 1, 1), channels, 7, 1);
        twice = same(same(same(twice, channels, 1, 7), channels, 7, 1), 192, 1, 7);
        return network.concat(3, ones, sevens, twice, pooling(x, 192));
    }

    private LayerOutput mixed7a(LayerOutput x) {
        LayerOutput threes = valid(same(x, 192, 1, 1), 320, 3, 2);
        LayerOutput sevens = same(same(same(x, 192, 1, 1), 192, 1, 7), 192, 7, 1);
        sevens = valid(sevens, 192, 3, 2);
        return network.concat(3, threes, sevens, network.maxPool(x, 3, 2, Padding.VALID));
    }

    private LayerOutput mixed7(LayerOutput x) {
        LayerOutput ones = same(x, 320, 1, 1);
        LayerOutput threes = fork(same(x, 384, 1, 1));
        LayerOutput twice = fork(same(same(x, 448, 1, 1), 384, 3, 3));
        return network.concat(3, ones, threes, twice, pooling(x, 192));
    }

    private LayerOutput fork(LayerOutput x) {
        return network.concat(3, same(x, 384, 1, 3), same(x, 384, 3, 1));
    }

    private LayerOutput pooling(LayerOutput x, int channels) {
        return same(network.averagePool(x, 3, 1, Padding.SAME), channels, 1, 1);
    }

    private LayerOutput same(LayerOutput x, int channels, int height, int width) {
        return network.conv2d(x, channels, height, width, 1, Padding.SAME);
    }

    private LayerOutput valid(LayerOutput x, int channels, int kernel, int stride) {
        return network.conv2d(x, channels, kernel, kernel, stride, Padding.VALID);
    }
}
