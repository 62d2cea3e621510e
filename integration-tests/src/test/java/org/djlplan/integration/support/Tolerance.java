package org.djlplan.integration.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.List;

/** The documented tolerance for outputs of 32-bit floats. */
public final class Tolerance {

    /**
     * The largest allowed difference of two elements, divided by the largest element of the
     * reference.
     */
    private static final double RELATIVE = 1e-4;

    private Tolerance() {}

    /** Fails if an output of floats is further from the reference than the tolerance. */
    public static void assertWithin(
            List<ByteBuffer> reference, List<ByteBuffer> actual, String name) {
        assertEquals(reference.size(), actual.size(), name);
        for (int i = 0; i < reference.size(); i++) {
            double error = Near.relativeError(actual.get(i), reference.get(i));
            assertTrue(error <= RELATIVE, name + ", output " + i + ": " + error);
        }
    }
}
