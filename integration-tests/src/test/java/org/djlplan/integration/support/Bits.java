package org.djlplan.integration.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.djlplan.memplan.graph.ElementType;

/** Generates values that kernels treat in different ways, by seed, and compares them bit by bit. */
public final class Bits {

    /** Floats by their bits. */
    private static final int[] SPECIAL = {
        0x7fc00000, // NaN
        0x7fc00123, // another
        0xffc04560, // a negative one
        0x7f800001, // a signalling one
        0x7f800000, // +infinity
        0xff800000, // -infinity
        0x00000000, // +0
        0x80000000, // -0
        0x00000001, // subnormals, which the engine flushes to zero where it calculates
        0x80000001,
        0x007fffff,
        0x807fffff,
        0x00012345,
        0x80012345,
        0x00800000, // the least normal numbers
        0x80800000,
        0x7f7fffff, // the largest
        0xff7fffff,
        0x3f000000, // 0.5, where rounding has a choice
        0xbfc00000, // -1.5
        0x3f800000, // 1 and -1, where activations bend
        0xbf800000,
        0x40c00000, // 6
        0x42b0cccd, // 88.4: exp is about infinite
        0xc2d00000, // -104: exp is subnormal
        0x4e6e6b28 // 1e9: an integer beyond a float's precision
    };

    private Bits() {}

    /** Returns a direct buffer with {@code bytes} of random elements. */
    public static ByteBuffer random(ElementType type, int bytes, Random random) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            switch (type) {
                case FLOAT32 -> buffer.putInt(number(random));
                case BOOL -> buffer.put((byte) random.nextInt(2));
                default -> buffer.put((byte) random.nextInt());
            }
        }
        return buffer.rewind();
    }

    /** Returns {@code bytes} of floats that are about as large as weights and activations. */
    public static ByteBuffer mild(int bytes, Random random) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            buffer.putFloat((float) random.nextGaussian());
        }
        return buffer.rewind();
    }

    /** Fails at the first byte that differs. */
    public static void assertSame(List<ByteBuffer> expected, List<ByteBuffer> actual, String name) {
        assertEquals(expected.size(), actual.size(), name);
        for (int i = 0; i < expected.size(); i++) {
            int at = expected.get(i).mismatch(actual.get(i));
            assertEquals(-1, at, name + ": output " + i + " differs at byte");
        }
    }

    private static int number(Random random) {
        return switch (random.nextInt(8)) {
            case 0, 1, 2 -> SPECIAL[random.nextInt(SPECIAL.length)];
            case 3 -> Float.floatToRawIntBits((float) (1000 * random.nextGaussian()));
            default -> Float.floatToRawIntBits((float) (3 * random.nextGaussian()));
        };
    }
}
