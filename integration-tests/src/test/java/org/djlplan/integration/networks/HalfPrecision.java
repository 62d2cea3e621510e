package org.djlplan.integration.networks;

import static org.djlplan.memplan.graph.ElementType.FLOAT16;
import static org.djlplan.memplan.graph.ElementType.FLOAT32;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;

/**
 * Convolutions with 16-bit weights, as a converter writes them: the first operators unpack the
 * weights. Some weights are shared.
 *
 * <pre>
 *   0 DEQUANTIZE   weights of 3 and 5
 *   1 DEQUANTIZE   weights of 4
 *   2 DEQUANTIZE   bias of all
 *   3 CONV_2D
 *   4 CONV_2D
 *   5 CONV_2D
 *   6 ABS
 * </pre>
 */
public final class HalfPrecision {

    /** The numbers of the operators that unpack weights, named by the weights' readers. */
    public static final int OF_FIRST_AND_LAST = 0;

    public static final int OF_SECOND = 1;
    public static final int OF_ALL = 2;

    /** The numbers of the operators that compute. */
    public static final int FIRST = 3;

    public static final int SECOND = 4;
    public static final int LAST = 5;

    private static final int CHANNELS = 16;

    private HalfPrecision() {}

    /** Returns the network; its input is {@code [1, 24, 24, 16]}. */
    public static TfLiteFile build(long seed) {
        ModelSketch model = new ModelSketch();
        Random random = new Random(seed);
        Form image = Form.of(FLOAT32, 1, 24, 24, CHANNELS);
        int x = model.input(image);
        int shared = unpacked(model, random, CHANNELS, 3, 3, CHANNELS);
        int own = unpacked(model, random, CHANNELS, 3, 3, CHANNELS);
        int bias = unpacked(model, random, CHANNELS);
        for (int weights : new int[] {shared, own, shared}) {
            FlatTable options =
                    FlatTable.of("Conv2DOptions").with("stride_w", 1).with("stride_h", 1);
            x = model.operator("CONV_2D", Optional.of(options), image, x, weights, bias);
        }
        return model.output(model.operator("ABS", Optional.empty(), image, x)).build();
    }

    private static int unpacked(ModelSketch model, Random random, int... shape) {
        Form packed = Form.of(FLOAT16, shape);
        ByteBuffer values =
                ByteBuffer.allocateDirect(packed.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        while (values.hasRemaining()) {
            values.putShort(half(random));
        }
        int constant = model.constant(packed, values.rewind());
        return model.operator("DEQUANTIZE", Optional.empty(), Form.of(FLOAT32, shape), constant);
    }

    /** Returns a number of either sign from 1/64 to 1/8: exponents 9 to 11 of 5 bits. */
    private static short half(Random random) {
        int sign = random.nextInt(2) << 15;
        int exponent = (9 + random.nextInt(3)) << 10;
        return (short) (sign | exponent | random.nextInt(1 << 10));
    }
}
