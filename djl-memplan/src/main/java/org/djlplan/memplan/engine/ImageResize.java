package org.djlplan.memplan.engine;

import ai.djl.ndarray.types.Shape;

/**
 * Images in another size: the nearest pixel, or linearly between the four nearest, with pixel
 * centres at halves (as OpenCV's {@code INTER_LINEAR} and PyTorch's {@code align_corners=False}).
 */
final class ImageResize {

    private static final int CHANNELS_LAST = 3;

    private ImageResize() {}

    /**
     * Returns an image in another size.
     *
     * @param image of shape (height, width, channels), or (batch, height, width, channels)
     * @param interpolation as {@code Image.Interpolation} numbers it: 0 is the nearest pixel, all
     *     others are linear
     */
    static BufferArray resize(BufferArray image, int width, int height, int interpolation) {
        Shape shape = image.getShape();
        int rank = shape.dimension();
        if (rank < CHANNELS_LAST) {
            throw new IllegalArgumentException("an image of shape " + shape);
        }
        int channels = (int) shape.get(rank - 1);
        int oldWidth = (int) shape.get(rank - 2);
        int oldHeight = (int) shape.get(rank - CHANNELS_LAST);
        Shape batch = shape.slice(0, rank - CHANNELS_LAST);
        BufferArray result =
                image.empty(batch.addAll(new Shape(height, width, channels)), image.getDataType());
        Elements from = image.elements();
        Elements to = result.elements();
        double half = Elements.isWhole(image.getDataType()) ? 0.5 : 0;
        Axis rows = new Axis(oldHeight, height, interpolation == 0);
        Axis columns = new Axis(oldWidth, width, interpolation == 0);
        int images = (int) batch.size();
        int at = 0;
        for (int i = 0; i < images; i++) {
            int base = i * oldHeight * oldWidth;
            for (int y = 0; y < height; y++) {
                int upper = (base + rows.low[y] * oldWidth) * channels;
                int lower = (base + rows.high[y] * oldWidth) * channels;
                for (int x = 0; x < width; x++) {
                    int left = columns.low[x] * channels;
                    int right = columns.high[x] * channels;
                    for (int c = 0; c < channels; c++) {
                        double above =
                                mix(from, upper + left + c, upper + right + c, columns.weight[x]);
                        double below =
                                mix(from, lower + left + c, lower + right + c, columns.weight[x]);
                        to.set(at++, above + (below - above) * rows.weight[y] + half);
                    }
                }
            }
        }
        return result;
    }

    private static double mix(Elements from, int one, int other, double weight) {
        double value = from.get(one);
        return weight == 0 ? value : value + (from.get(other) - value) * weight;
    }

    /** The two old positions that each new one lies between. */
    private static final class Axis {

        final int[] low;
        final int[] high;

        /** Of the higher position. */
        final double[] weight;

        Axis(int from, int to, boolean nearest) {
            low = new int[to];
            high = new int[to];
            weight = new double[to];
            double scale = (double) from / to;
            for (int i = 0; i < to; i++) {
                double at = nearest ? Math.floor(i * scale) : (i + 0.5) * scale - 0.5;
                double inside = Math.max(0, Math.min(from - 1, at));
                low[i] = (int) inside;
                high[i] = Math.min(from - 1, low[i] + 1);
                weight[i] = inside - low[i];
            }
        }
    }
}
