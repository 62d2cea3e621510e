package org.djlplan.integration.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** The documented tolerance for outputs of 32-bit floats. */
public final class Tolerance {

    /**
     * The largest allowed difference of two elements, divided by the largest element of the
     * reference.
     */
    public static final double RELATIVE = 1e-4;

    private Tolerance() {}

    /** Fails if an output of floats is further from the reference than the tolerance. */
    public static void assertWithin(
            List<ByteBuffer> reference, List<ByteBuffer> actual, String name) {
        assertEquals(reference.size(), actual.size(), name);
        for (int i = 0; i < reference.size(); i++) {
            double error = error(reference.get(i), actual.get(i));
            assertTrue(error <= RELATIVE, name + ", output " + i + ": " + error);
        }
    }

    private static double error(ByteBuffer reference, ByteBuffer actual) {
        ByteBuffer expected = reference.duplicate().rewind().order(ByteOrder.nativeOrder());
        ByteBuffer given = actual.duplicate().rewind().order(ByteOrder.nativeOrder());
        assertEquals(expected.remaining(), given.remaining());
        double largest = 0;
        double scale = 0;
        while (expected.hasRemaining()) {
            float x = expected.getFloat();
            float y = given.getFloat();
            assertEquals(Float.isFinite(x), Float.isFinite(y));
            largest = Math.max(largest, Math.abs((double) x - y));
            scale = Math.max(scale, Math.abs(x));
        }
        return scale == 0 ? largest : largest / scale;
    }
}
