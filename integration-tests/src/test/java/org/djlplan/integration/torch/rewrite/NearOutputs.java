package org.djlplan.integration.torch.rewrite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import ai.djl.ndarray.types.DataType;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.List;
import org.djlplan.integration.torch.Output;

/** Compares outputs within the tolerance that rewritten models have. */
final class NearOutputs {

    /** Of the largest element. */
    private static final double TOLERANCE = 1e-4;

    private NearOutputs() {}

    static void assertNear(List<Output> expected, List<Output> outputs) {
        assertEquals(expected.size(), outputs.size());
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.get(i).name(), outputs.get(i).name());
            assertEquals(expected.get(i).shape(), outputs.get(i).shape());
            assertEquals(expected.get(i).type(), outputs.get(i).type());
            if (expected.get(i).type() == DataType.FLOAT32) {
                assertNear(floats(expected.get(i)), floats(outputs.get(i)));
            } else if (expected.get(i).type() != DataType.FLOAT64) {
                assertEquals(expected.get(i), outputs.get(i));
            }
        }
    }

    private static void assertNear(float[] expected, float[] outputs) {
        double largest = 0;
        for (float each : expected) {
            largest = Float.isFinite(each) ? Math.max(largest, Math.abs(each)) : largest;
        }
        for (int i = 0; i < expected.length; i++) {
            boolean same = Float.compare(expected[i], outputs[i]) == 0;
            if (!same && !(Math.abs(expected[i] - outputs[i]) <= TOLERANCE * largest)) {
                fail(i + ": " + expected[i] + " " + outputs[i]);
            }
        }
    }

    /** Returns the largest relative error of an output: Euclidean, of floats. */
    static double relativeError(List<Output> expected, List<Output> outputs) {
        double largest = 0;
        for (int i = 0; i < expected.size(); i++) {
            float[] stock = floats(expected.get(i));
            float[] other = floats(outputs.get(i));
            double squares = 0;
            double scale = 0;
            for (int j = 0; j < stock.length; j++) {
                squares += Math.pow((double) other[j] - stock[j], 2);
                scale += Math.pow(stock[j], 2);
            }
            largest = Math.max(largest, Math.sqrt(squares / scale));
        }
        return largest;
    }

    private static float[] floats(Output output) {
        FloatBuffer values = output.bytes().order(ByteOrder.nativeOrder()).asFloatBuffer();
        float[] floats = new float[values.remaining()];
        values.get(floats);
        return floats;
    }
}
