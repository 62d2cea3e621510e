package org.djlplan.integration.converted;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor.Quantization;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.primitives.Floats;

/**
 * Weights rounded to signed integers of a few bits, with a scale for each output channel or one for
 * all.
 *
 * @param steps the weights
 * @param scales one, or one for each channel
 * @param dimension index of the output channels' dimension in the weights' shape
 */
record Weights(int[] steps, float[] scales, int dimension) {

    private static final float LEAST = 1e-12f;

    /**
     * Operators with weights, and the index of the output channels' dimension in the weights'
     * shape.
     */
    private static final ImmutableMap<String, Integer> CHANNELS =
            ImmutableMap.of("CONV_2D", 0, "DEPTHWISE_CONV_2D", 3, "FULLY_CONNECTED", 0);

    /** Index of the weights among such operators' inputs. */
    static final int POSITION = 1;

    static final int BIAS_POSITION = 2;

    /**
     * Returns the dimension of the channels of an operator's weights; empty if it has no weights.
     */
    static Optional<Integer> dimension(String operator) {
        return Optional.ofNullable(CHANNELS.get(operator));
    }

    /**
     * Rounds weights.
     *
     * @param leastScales a lower limit for each channel's scale; empty for no limit
     */
    static Weights byChannel(
            float[] values, List<Integer> shape, int dimension, int bits, float[] leastScales) {
        int most = (1 << (bits - 1)) - 1;
        int channels = shape.get(dimension);
        int run = shape.subList(dimension + 1, shape.size()).stream().reduce(1, (a, b) -> a * b);
        float[] scales = new float[channels];
        Arrays.fill(scales, LEAST);
        for (int i = 0; i < values.length; i++) {
            int channel = i / run % channels;
            scales[channel] = Math.max(scales[channel], Math.abs(values[i]) / most);
        }
        for (int i = 0; i < leastScales.length; i++) {
            scales[i] = Math.max(scales[i], leastScales[i]);
        }
        int[] steps = new int[values.length];
        for (int i = 0; i < steps.length; i++) {
            steps[i] = Math.round(values[i] / scales[i / run % channels]);
        }
        return new Weights(steps, scales, dimension);
    }

    /** Rounds weights to one scale. */
    static Weights together(float[] values, int bits, float[] leastScales) {
        float least = leastScales.length == 0 ? 0 : Floats.max(leastScales);
        return byChannel(values, List.of(1, values.length), 0, bits, new float[] {least});
    }

    /** Returns the scale of an output channel. */
    float scale(int channel) {
        return scales[channel % scales.length];
    }

    /** Returns bytes that hold the steps, each increased by {@code zero}. */
    ByteBuffer bytes(int zero) {
        ByteBuffer bytes = ModelEdit.littleEndian(steps.length);
        for (int step : steps) {
            bytes.put((byte) (step + zero));
        }
        return bytes.rewind();
    }

    /** Returns bytes that hold two steps of four bits each, the first in the lower half. */
    ByteBuffer halfBytes() {
        ByteBuffer bytes = ModelEdit.littleEndian((steps.length + 1) / 2);
        for (int i = 0; i < steps.length; i += 2) {
            int second = i + 1 < steps.length ? steps[i + 1] : 0;
            bytes.put((byte) ((steps[i] & 0xf) | second << 4));
        }
        return bytes.rewind();
    }

    /** Returns the quantization of a tensor with these weights. */
    Quantization quantization(int zero) {
        return new Quantization(
                List.of(),
                List.of(),
                Floats.asList(scales),
                Collections.nCopies(scales.length, (long) zero),
                Optional.empty(),
                dimension);
    }
}
