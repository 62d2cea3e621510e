package org.djlplan.memplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;

/**
 * How far the outputs of two runs are apart.
 *
 * @param identical all bytes are equal
 * @param maxRelativeError the largest, over all outputs, of (largest difference of two elements) /
 *     (largest element of the first run's output, in absolute value); empty if they cannot be
 *     compared: other types or sizes, or an infinite or undefined element on one side only
 */
record OutputDifference(boolean identical, OptionalDouble maxRelativeError) {

    /** Returns whether the outputs are equal or the error is at most {@code tolerance}. */
    boolean within(double tolerance) {
        return identical
                || (maxRelativeError.isPresent() && maxRelativeError.getAsDouble() <= tolerance);
    }

    /** Returns the largest difference of several, at least one. */
    static OutputDifference worst(List<OutputDifference> differences) {
        boolean comparable = differences.stream().allMatch(d -> d.maxRelativeError.isPresent());
        return new OutputDifference(
                differences.stream().allMatch(OutputDifference::identical),
                comparable
                        ? differences.stream()
                                .mapToDouble(d -> d.maxRelativeError.getAsDouble())
                                .max()
                        : OptionalDouble.empty());
    }

    /**
     * Compares two files of outputs.
     *
     * @param layout type and bytes of each output in {@code expected}, as {@link OutputFile} tells
     * @param actualLayout the same for {@code actual}
     */
    static OutputDifference between(
            Path expected, JsonArray layout, Path actual, JsonArray actualLayout)
            throws IOException {
        if (layout.equals(actualLayout) && Files.mismatch(expected, actual) < 0) {
            return new OutputDifference(true, OptionalDouble.of(0));
        }
        if (!layout.equals(actualLayout)) {
            return new OutputDifference(false, OptionalDouble.empty());
        }
        double worst = 0;
        try (DataInputStream left = open(expected);
                DataInputStream right = open(actual)) {
            for (JsonElement element : layout) {
                JsonObject output = element.getAsJsonObject();
                Elements type = Elements.of(output.get("type").getAsString());
                int bytes = output.get("bytes").getAsInt();
                worst = Math.max(worst, error(type, read(left, bytes), read(right, bytes)));
            }
        }
        return new OutputDifference(
                false, Double.isFinite(worst) ? OptionalDouble.of(worst) : OptionalDouble.empty());
    }

    private static double error(Elements type, ByteBuffer expected, ByteBuffer actual) {
        double difference = 0;
        double scale = 0;
        while (expected.hasRemaining()) {
            double a = type.next(expected);
            double b = type.next(actual);
            if (Double.compare(a, b) == 0 || a == b) {
                scale = Math.max(scale, Double.isFinite(a) ? Math.abs(a) : 0);
                continue;
            }
            if (!Double.isFinite(a) || !Double.isFinite(b)) {
                return Double.POSITIVE_INFINITY;
            }
            difference = Math.max(difference, Math.abs(a - b));
            scale = Math.max(scale, Math.abs(a));
        }
        return difference == 0 ? 0 : difference / scale;
    }

    private static DataInputStream open(Path file) throws IOException {
        InputStream in = Files.newInputStream(file);
        return new DataInputStream(new BufferedInputStream(in));
    }

    private static ByteBuffer read(DataInputStream in, int bytes) throws IOException {
        byte[] all = new byte[bytes];
        in.readFully(all);
        return ByteBuffer.wrap(all).order(ByteOrder.nativeOrder());
    }

    /** How to read the elements of an output. */
    private enum Elements {
        FLOAT32,
        FLOAT64,
        INT32,
        INT64,
        INT16,
        UINT8,
        INT8;

        static Elements of(String type) {
            return switch (type) {
                case "float32" -> FLOAT32;
                case "float64" -> FLOAT64;
                case "int32" -> INT32;
                case "int64" -> INT64;
                case "int16" -> INT16;
                case "int8" -> INT8;
                default -> UINT8;
            };
        }

        double next(ByteBuffer in) {
            return switch (this) {
                case FLOAT32 -> in.getFloat();
                case FLOAT64 -> in.getDouble();
                case INT32 -> in.getInt();
                case INT64 -> in.getLong();
                case INT16 -> in.getShort();
                case INT8 -> in.get();
                case UINT8 -> Byte.toUnsignedInt(in.get());
            };
        }
    }
}
