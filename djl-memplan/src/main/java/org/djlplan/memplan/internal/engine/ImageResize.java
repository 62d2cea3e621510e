package org.djlplan.memplan.internal.engine;

import ai.djl.ndarray.types.Shape;

/**
 * Resizes images by the nearest pixel, or linearly between the four nearest pixels, with pixel
 * centres at halves (as OpenCV's {@code INTER_LINEAR} and PyTorch's {@code align_corners=False}).
 * It computes with {@code float}s like PyTorch, but PyTorch rounds sums in another order, so 8-bit
 * pixels may differ by one.
 */
final class ImageResize {

    private static final int CHANNELS_LAST = 3;

    private ImageResize() {}

    /**
     * Returns a resized image.
     *
     * @param image of shape (height, width, channels), or (batch, height, width, channels)
     * @param interpolation number in {@code Image.Interpolation}: 0 is the nearest pixel, 1 linear
     * @throws UnsupportedOperationException for another interpolation
     */
    static BufferArray resize(BufferArray image, int width, int height, int interpolation) {
        Shape shape = image.getShape();
        int rank = shape.dimension();
        if (interpolation > 1) {
            throw OtherEngine.missing("interpolation " + interpolation);
        }
        if (rank < CHANNELS_LAST || shape.size() == 0) {
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
                        float above =
                                mix(from, upper + left + c, upper + right + c, columns.weight[x]);
                        float below =
                                mix(from, lower + left + c, lower + right + c, columns.weight[x]);
                        to.set(at++, mix(above, below, rows.weight[y]));
                    }
                }
            }
        }
        return result;
    }

    private static float mix(Elements from, int one, int other, float weight) {
        return mix((float) from.get(one), (float) from.get(other), weight);
    }

    private static float mix(float one, float other, float weight) {
        return weight == 0 ? one : one * (1 - weight) + other * weight;
    }

    /** The two old positions around each new one. */
    private static final class Axis {

        final int[] low;
        final int[] high;

        /** Weight of the higher position. */
        final float[] weight;

        Axis(int from, int to, boolean nearest) {
            low = new int[to];
            high = new int[to];
            weight = new float[to];
            float scale = (float) from / to;
            for (int i = 0; i < to; i++) {
                float at = nearest ? (int) (i * scale) : (i + 0.5f) * scale - 0.5f;
                float inside = Math.max(0, Math.min(from - 1, at));
                low[i] = (int) inside;
                high[i] = Math.min(from - 1, low[i] + 1);
                weight[i] = inside - low[i];
            }
        }
    }
}
