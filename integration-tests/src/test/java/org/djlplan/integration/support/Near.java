package org.djlplan.integration.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/** Computes distances between outputs of 32-bit floats. */
public final class Near {

    private Near() {}

    /** Returns the largest difference of two elements, divided by the largest expected element. */
    public static double relativeError(ByteBuffer output, ByteBuffer expected) {
        FloatBuffer floats = floats(output);
        FloatBuffer others = floats(expected);
        assertEquals(others.remaining(), floats.remaining());
        double largest = 0;
        double difference = 0;
        while (others.hasRemaining()) {
            float other = others.get();
            float own = floats.get();
            largest = Math.max(largest, Math.abs(other));
            difference =
                    Float.isNaN(own)
                            ? Double.POSITIVE_INFINITY
                            : Math.max(difference, Math.abs(own - other));
        }
        return largest == 0 ? difference : difference / largest;
    }

    private static FloatBuffer floats(ByteBuffer bytes) {
        return bytes.duplicate().order(ByteOrder.nativeOrder()).asFloatBuffer();
    }
}
