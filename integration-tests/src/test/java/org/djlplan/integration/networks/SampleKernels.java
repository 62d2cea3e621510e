package org.djlplan.integration.networks;

/**
 * Plain kernels over several images of one size. Networks with random weights are made layer by
 * layer, with scales from each layer's values, so that values neither vanish nor overflow.
 */
final class SampleKernels {

    private SampleKernels() {}

    /** Consecutive images, and the size of each. */
    record Images(float[] values, int height, int width, int channels) {

        /** Number of images. */
        static final int COUNT = 3;

        static Images empty(int height, int width, int channels) {
            float[] values = new float[COUNT * height * width * channels];
            return new Images(values, height, width, channels);
        }

        /** Returns the number of places of all images. */
        int places() {
            return COUNT * height * width;
        }

        int elementsOfOne() {
            return height * width * channels;
        }
    }

    /** Returns the size of an output with same padding. */
    static int strided(int size, int stride) {
        return (size + stride - 1) / stride;
    }

    private static int padding(int size, int kernel, int stride) {
        return Math.max(0, (strided(size, stride) - 1) * stride + kernel - size) / 2;
    }

    /**
     * Computes a convolution with same padding.
     *
     * @param weights output channels, rows, columns, input channels
     */
    static Images convolution(Images x, float[] weights, float[] bias, int kernel, int stride) {
        int channels = bias.length;
        float[] turned = channelsLast(weights, channels);
        Images y = Images.empty(strided(x.height(), stride), strided(x.width(), stride), channels);
        int top = padding(x.height(), kernel, stride);
        int left = padding(x.width(), kernel, stride);
        for (int place = 0; place < y.places(); place++) {
            int image = place / (y.height() * y.width());
            int row = place / y.width() % y.height() * stride - top;
            int column = place % y.width() * stride - left;
            System.arraycopy(bias, 0, y.values(), place * channels, channels);
            for (int k = 0; k < kernel * kernel; k++) {
                int from = place(x, image, row + k / kernel, column + k % kernel);
                if (from >= 0) {
                    for (int i = 0; i < x.channels(); i++) {
                        float value = x.values()[from * x.channels() + i];
                        int weight = (k * x.channels() + i) * channels;
                        for (int c = 0; c < channels; c++) {
                            y.values()[place * channels + c] += value * turned[weight + c];
                        }
                    }
                }
            }
        }
        return y;
    }

    private static float[] channelsLast(float[] weights, int channels) {
        int each = weights.length / channels;
        float[] turned = new float[weights.length];
        for (int c = 0; c < channels; c++) {
            for (int i = 0; i < each; i++) {
                turned[i * channels + c] = weights[c * each + i];
            }
        }
        return turned;
    }

    /**
     * Computes a depthwise convolution with same padding; the weights' dimensions are rows,
     * columns, channels.
     */
    static Images depthwise(Images x, float[] weights, float[] bias, int kernel, int stride) {
        int channels = x.channels();
        Images y = Images.empty(strided(x.height(), stride), strided(x.width(), stride), channels);
        int top = padding(x.height(), kernel, stride);
        int left = padding(x.width(), kernel, stride);
        for (int place = 0; place < y.places(); place++) {
            int image = place / (y.height() * y.width());
            int row = place / y.width() % y.height() * stride - top;
            int column = place % y.width() * stride - left;
            System.arraycopy(bias, 0, y.values(), place * channels, channels);
            for (int k = 0; k < kernel * kernel; k++) {
                int from = place(x, image, row + k / kernel, column + k % kernel);
                if (from >= 0) {
                    for (int c = 0; c < channels; c++) {
                        y.values()[place * channels + c] +=
                                x.values()[from * channels + c] * weights[k * channels + c];
                    }
                }
            }
        }
        return y;
    }

    private static int place(Images x, int image, int row, int column) {
        boolean inside = row >= 0 && row < x.height() && column >= 0 && column < x.width();
        return inside ? (image * x.height() + row) * x.width() + column : -1;
    }

    /**
     * Returns one place for each image: the products of the whole image with vectors, one per
     * channel.
     */
    static Images products(Images x, float[] vectors, float[] bias) {
        Images y = Images.empty(1, 1, bias.length);
        int each = x.elementsOfOne();
        for (int i = 0; i < y.values().length; i++) {
            int image = i / bias.length;
            int vector = i % bias.length;
            float sum = bias[vector];
            for (int k = 0; k < each; k++) {
                sum += x.values()[image * each + k] * vectors[vector * each + k];
            }
            y.values()[i] = sum;
        }
        return y;
    }

    /** Returns the sum of images of one size. */
    static Images sum(Images x, Images y) {
        Images z = Images.empty(x.height(), x.width(), x.channels());
        for (int i = 0; i < z.values().length; i++) {
            z.values()[i] = x.values()[i] + y.values()[i];
        }
        return z;
    }

    /** Applies a rectifier that multiplies negative values by a slope for each channel. */
    static Images rectified(Images x, float[] slopes) {
        Images y = Images.empty(x.height(), x.width(), x.channels());
        for (int i = 0; i < y.values().length; i++) {
            float value = x.values()[i];
            y.values()[i] = value >= 0 ? value : value * slopes[i % x.channels()];
        }
        return y;
    }

    /** Applies a rectifier that cuts off at 6. */
    static Images clipped(Images x) {
        Images y = Images.empty(x.height(), x.width(), x.channels());
        for (int i = 0; i < y.values().length; i++) {
            y.values()[i] = Math.min(6, Math.max(0, x.values()[i]));
        }
        return y;
    }

    /** Returns the mean of each channel of each image. */
    static Images average(Images x) {
        Images y = Images.empty(1, 1, x.channels());
        int each = x.height() * x.width();
        for (int i = 0; i < x.values().length; i++) {
            int image = i / x.elementsOfOne();
            y.values()[image * x.channels() + i % x.channels()] += x.values()[i] / each;
        }
        return y;
    }

    /** Repeats each place four times, which is close enough to bilinear interpolation. */
    static Images doubled(Images x) {
        Images y = Images.empty(2 * x.height(), 2 * x.width(), x.channels());
        for (int place = 0; place < y.places(); place++) {
            int from = place / y.width() / 2 * x.width() + place % y.width() / 2;
            System.arraycopy(
                    x.values(),
                    from * x.channels(),
                    y.values(),
                    place * x.channels(),
                    x.channels());
        }
        return y;
    }
}
