package org.djlplan.memplan.runtime.tflite;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.djlplan.memplan.graph.ElementType;

/** How far outputs are apart, as {@link org.djlplan.memplan.spi.OutputError} measures it. */
final class OutputDifferences {

    private OutputDifferences() {}

    /**
     * Returns the difference of an output from a reference.
     *
     * @return as {@link org.djlplan.memplan.spi.OutputError#difference} says; infinite if they are
     *     not of the same type and size
     */
    static double of(OutputTensor output, OutputTensor reference) {
        ElementType type = reference.info().type();
        ByteBuffer a = order(output.data());
        ByteBuffer b = order(reference.data());
        if (output.info().type() != type || a.remaining() != b.remaining()) {
            return Double.POSITIVE_INFINITY;
        }
        return switch (type) {
            case FLOAT32, FLOAT64, FLOAT16 -> relative(a, b, type);
            case INT8, UINT8, INT16, UINT16 -> steps(a, b, type);
            default -> different(a, b, Math.max(1, type.bytes()));
        };
    }

    private static ByteBuffer order(ByteBuffer data) {
        return data.duplicate().rewind().order(ByteOrder.nativeOrder());
    }

    private static double relative(ByteBuffer a, ByteBuffer b, ElementType type) {
        double largest = 0;
        double scale = 0;
        while (b.hasRemaining()) {
            double x = number(a, type);
            double y = number(b, type);
            if (Double.isNaN(x) != Double.isNaN(y)
                    || Double.isInfinite(x) != Double.isInfinite(y)) {
                return Double.POSITIVE_INFINITY;
            }
            // Equal also when both are the same infinity, whose difference is no number.
            if (x != y && !Double.isNaN(x)) {
                largest = Math.max(largest, Math.abs(x - y));
            }
            if (Double.isFinite(y)) {
                scale = Math.max(scale, Math.abs(y));
            }
        }
        return largest / (scale == 0 ? 1 : scale);
    }

    private static double steps(ByteBuffer a, ByteBuffer b, ElementType type) {
        double largest = 0;
        while (b.hasRemaining()) {
            largest = Math.max(largest, Math.abs(number(a, type) - number(b, type)));
        }
        return largest;
    }

    private static double number(ByteBuffer values, ElementType type) {
        return switch (type) {
            case FLOAT32 -> values.getFloat();
            case FLOAT64 -> values.getDouble();
            case FLOAT16 -> halfToDouble(values.getShort());
            case INT8 -> values.get();
            case UINT8 -> Byte.toUnsignedInt(values.get());
            case INT16 -> values.getShort();
            case UINT16 -> Short.toUnsignedInt(values.getShort());
            default -> throw new IllegalArgumentException(type.toString());
        };
    }

    /** IEEE 754 binary16: 1 sign bit, 5 of exponent with bias 15, 10 of fraction. */
    private static double halfToDouble(short half) {
        int exponent = half >> 10 & 0x1f;
        int fraction = half & 0x3ff;
        double magnitude;
        if (exponent == 0x1f) {
            magnitude = fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
        } else if (exponent == 0) {
            magnitude = Math.scalb((double) fraction, -24);
        } else {
            magnitude = Math.scalb((double) (fraction | 0x400), exponent - 25);
        }
        return half < 0 ? -magnitude : magnitude;
    }

    private static double different(ByteBuffer a, ByteBuffer b, int elementBytes) {
        int count = 0;
        for (int at = 0; at < b.remaining(); at += elementBytes) {
            int bytes = Math.min(elementBytes, b.remaining() - at);
            if (!a.slice(at, bytes).equals(b.slice(at, bytes))) {
                count++;
            }
        }
        return count;
    }
}
