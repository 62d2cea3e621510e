package org.djlplan.memplan.internal.candidates;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.spi.OutputError.Deviation;

/** Computes the difference of an output from a reference, by the type of its elements. */
public final class OutputDifferences {

    private OutputDifferences() {}

    /** Returns the difference of an output from a reference; infinite if types or sizes differ. */
    public static Deviation of(OutputTensor output, OutputTensor reference) {
        ElementType type = reference.info().type();
        ByteBuffer a = order(output.data());
        ByteBuffer b = order(reference.data());
        if (output.info().type() != type || a.remaining() != b.remaining()) {
            return Deviation.INFINITE;
        }
        return switch (type) {
            case FLOAT32, FLOAT64, FLOAT16 -> relative(a, b, type);
            case INT8, UINT8, INT16, UINT16 -> steps(a, b, type, isVector(reference.info()));
            default -> new Deviation(different(a, b, Math.max(1, type.bytes())), 0, 0);
        };
    }

    /**
     * Returns the fraction of differing elements.
     *
     * @param few number of differing elements that are ignored
     */
    static double shareOff(OutputTensor output, OutputTensor reference, int few) {
        int bytes = Math.max(1, reference.info().type().bytes());
        ByteBuffer right = order(reference.data());
        int count = Math.max(1, right.remaining() / bytes);
        int different = different(order(output.data()), right, bytes);
        return (double) Math.max(0, different - few) / count;
    }

    /** Returns the largest absolute element that is finite; 0 for integers. */
    static double largest(OutputTensor output) {
        ElementType type = output.info().type();
        double largest = 0;
        switch (type) {
            case FLOAT32, FLOAT64, FLOAT16 -> {
                ByteBuffer values = order(output.data());
                while (values.hasRemaining()) {
                    double x = number(values, type);
                    largest = Double.isFinite(x) ? Math.max(largest, Math.abs(x)) : largest;
                }
            }
            default -> {}
        }
        return largest;
    }

    private static ByteBuffer order(ByteBuffer data) {
        return data.duplicate().rewind().order(ByteOrder.nativeOrder());
    }

    /** Returns whether all elements are along one dimension, like scores of classes. */
    private static boolean isVector(TensorInfo info) {
        return info.shape().stream().filter(dimension -> dimension != 1).count() == 1;
    }

    private static Deviation relative(ByteBuffer a, ByteBuffer b, ElementType type) {
        double largest = 0;
        double scale = 0;
        double squares = 0;
        double scaleSquares = 0;
        while (b.hasRemaining()) {
            double x = number(a, type);
            double y = number(b, type);
            if (Double.isNaN(x) != Double.isNaN(y)
                    || Double.isInfinite(x) != Double.isInfinite(y)) {
                return Deviation.INFINITE;
            }
            // Two equal infinities count as equal; their difference would be NaN.
            if (x != y && !Double.isNaN(x)) {
                largest = Math.max(largest, Math.abs(x - y));
                squares += (x - y) * (x - y);
            }
            if (Double.isFinite(y)) {
                scale = Math.max(scale, Math.abs(y));
                scaleSquares += y * y;
            }
        }
        return new Deviation(
                largest / (scale == 0 ? 1 : scale),
                Math.sqrt(squares / (scaleSquares == 0 ? 1 : scaleSquares)),
                0);
    }

    private static Deviation steps(ByteBuffer a, ByteBuffer b, ElementType type, boolean vector) {
        double largest = 0;
        int far = 0;
        int count = 0;
        double top = Double.NEGATIVE_INFINITY;
        double there = Double.NEGATIVE_INFINITY;
        double ownTop = Double.NEGATIVE_INFINITY;
        while (b.hasRemaining()) {
            double x = number(a, type);
            double y = number(b, type);
            double steps = Math.abs(x - y);
            largest = Math.max(largest, steps);
            far += steps > 1 ? 1 : 0;
            count++;
            top = Math.max(top, y);
            if (x > ownTop) {
                ownTop = x;
                there = y;
            } else if (x == ownTop) {
                there = Math.max(there, y);
            }
        }
        boolean other = vector && top - there > 1;
        return new Deviation(largest, (double) far / Math.max(1, count), other ? 1 : 0);
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

    private static int different(ByteBuffer a, ByteBuffer b, int elementBytes) {
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
