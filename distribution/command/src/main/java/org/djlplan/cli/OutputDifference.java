package org.djlplan.cli;

import ai.djl.util.Float16Utils;
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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Streams;
import org.djlplan.thirdparty.guava.primitives.UnsignedLong;

/**
 * Difference of the outputs of two runs.
 *
 * @param identical all bytes are equal
 * @param comparable whether both runs have the same outputs, of the same types and sizes
 * @param outputs difference of each output; each of several predictions has its own entries. Empty
 *     if the outputs cannot be compared
 */
record OutputDifference(boolean identical, boolean comparable, List<Output> outputs) {

    /** Outputs with the same bytes. */
    static final OutputDifference NONE = new OutputDifference(true, true, List.of());

    /** Outputs of different types or sizes. */
    static final OutputDifference INCOMPARABLE = new OutputDifference(false, false, List.of());

    OutputDifference {
        outputs = ImmutableList.copyOf(outputs);
    }

    /**
     * Difference of one output.
     *
     * @param type of its elements, as DJL names it, in lower case
     * @param relative (largest difference of two elements) / (largest element of the first run's
     *     output, in absolute value, or 1 if that is 0); infinite if an element is infinite or
     *     undefined on one side only
     * @param largest the largest difference of two elements; for quantized outputs, in steps
     */
    record Output(String type, double relative, double largest) {

        private boolean isFloat() {
            return Elements.of(type).isFloat;
        }

        private boolean isQuantized() {
            return type.equals("int8") || type.equals("uint8") || type.equals("int16");
        }

        private boolean agrees(Limit limit) {
            return part(limit) <= 1;
        }

        /** Returns the difference divided by a limit; above 1 the output is outside. */
        private double part(Limit limit) {
            double difference = isFloat() ? relative : largest;
            double most = isFloat() ? limit.relative() : isQuantized() ? limit.steps() : 0;
            return difference == 0 ? 0 : difference / most;
        }

        private String text(Limit limit) {
            return isFloat()
                    ? "within %s (limit %s)"
                            .formatted(scientific(relative), scientific(limit.relative()))
                    : "within %s (limit %s)".formatted(steps(largest), steps(limit.steps()));
        }
    }

    /** Returns the largest relative error of all outputs; empty if none is finite. */
    OptionalDouble maxRelativeError() {
        double worst = outputs.stream().mapToDouble(Output::relative).max().orElse(0);
        return comparable && Double.isFinite(worst)
                ? OptionalDouble.of(worst)
                : OptionalDouble.empty();
    }

    /** Returns whether the outputs are equal or no relative error exceeds {@code tolerance}. */
    boolean within(double tolerance) {
        OptionalDouble error = maxRelativeError();
        return identical || (error.isPresent() && error.getAsDouble() <= tolerance);
    }

    /**
     * Returns whether the outputs are the same bytes or, if there is a tolerance, within it. Zeros
     * of both signs are equal numbers, but not the same bytes.
     */
    boolean isAccepted(double tolerance) {
        return identical || (tolerance > 0 && within(tolerance));
    }

    /**
     * The largest accepted differences; outputs of types without a limit must be equal.
     *
     * @param relative the largest {@link Output#relative()} of floating-point outputs
     * @param steps the largest difference of integers of 8 and 16 bits
     */
    record Limit(double relative, double steps) {

        /** The limit for outputs that must be the same bytes. */
        static final Limit IDENTICAL = new Limit(0, 0);

        /** The minimum limit for delegated outputs of any model: a rounding error. */
        static final Limit ROUNDING = new Limit(1e-4, 1);

        /** Returns the larger of both limits. */
        Limit or(Limit other) {
            return new Limit(Math.max(relative, other.relative), Math.max(steps, other.steps));
        }
    }

    /**
     * Returns whether every output is within its limit.
     *
     * @param limits of the outputs of one prediction, in their order
     */
    boolean agrees(List<Limit> limits) {
        return comparable
                && Streams.zip(outputs.stream(), repeated(limits), Output::agrees)
                        .allMatch(agrees -> agrees);
    }

    /** Returns the difference of the output that comes nearest to its limit, for people. */
    String agreement(List<Limit> limits) {
        return Streams.zip(outputs.stream(), repeated(limits), Map::entry)
                .max(Comparator.comparingDouble(each -> each.getKey().part(each.getValue())))
                .map(each -> each.getKey().text(each.getValue()))
                .orElse("exactly");
    }

    private static Stream<Limit> repeated(List<Limit> limits) {
        return Stream.generate(() -> limits).flatMap(List::stream);
    }

    /** Returns the difference of the outputs, such as "4.2e-6" or "1 step", for people. */
    String text() {
        if (!comparable) {
            return "other types or sizes";
        }
        if (!identical && outputs.stream().allMatch(output -> output.largest() == 0)) {
            return "the signs of zeros, or the bits of undefined elements";
        }
        List<String> parts = new ArrayList<>();
        largest(Output::isFloat, Output::relative).ifPresent(x -> parts.add(scientific(x)));
        largest(Output::isQuantized, Output::largest).ifPresent(n -> parts.add(steps(n)));
        largest(output -> !output.isFloat() && !output.isQuantized(), Output::largest)
                .filter(n -> n > 0 || parts.isEmpty())
                .ifPresent(n -> parts.add(String.format(Locale.ROOT, "%.0f in integers", n)));
        return parts.isEmpty() ? "0" : String.join(" and ", parts);
    }

    /** Returns a small number with at most two digits: 4.2e-6. */
    static String scientific(double number) {
        if (number == 0 || !Double.isFinite(number)) {
            return number == 0 ? "0" : "more than any number";
        }
        return String.format(Locale.ROOT, "%.1e", number)
                .replace(".0e", "e")
                .replaceFirst("e([+-])0*(\\d)", "e$1$2")
                .replace("e+", "e");
    }

    /** Returns a number of steps of a quantized output, for people. */
    static String steps(double number) {
        return String.format(Locale.ROOT, number == 1 ? "%.0f step" : "%.0f steps", number);
    }

    private Optional<Double> largest(Predicate<Output> kind, ToDoubleFunction<Output> measure) {
        return outputs.stream().filter(kind).map(measure::applyAsDouble).max(Double::compare);
    }

    /**
     * Returns the differences of several comparisons of the same model combined; at least one
     * comparison is required.
     */
    static OutputDifference worst(List<OutputDifference> differences) {
        if (!differences.stream().allMatch(OutputDifference::comparable)) {
            return INCOMPARABLE;
        }
        return new OutputDifference(
                differences.stream().allMatch(OutputDifference::identical),
                true,
                differences.stream().flatMap(each -> each.outputs.stream()).toList());
    }

    /**
     * Compares two files of outputs.
     *
     * @param layout type and bytes of each output in {@code expected}, as returned by {@link
     *     ModelRun.OutputFile}
     * @param actualLayout the same for {@code actual}
     */
    static OutputDifference between(
            Path expected, JsonArray layout, Path actual, JsonArray actualLayout)
            throws IOException {
        if (!layout.equals(actualLayout)) {
            return INCOMPARABLE;
        }
        if (Files.mismatch(expected, actual) < 0) {
            return NONE;
        }
        List<Output> outputs = new ArrayList<>();
        try (DataInputStream left = open(expected);
                DataInputStream right = open(actual)) {
            for (JsonElement element : layout) {
                JsonObject output = element.getAsJsonObject();
                int bytes = output.get("bytes").getAsInt();
                outputs.add(
                        output(
                                output.get("type").getAsString(),
                                read(left, bytes),
                                read(right, bytes)));
            }
        }
        return new OutputDifference(false, true, outputs);
    }

    private static Output output(String name, ByteBuffer expected, ByteBuffer actual) {
        Elements type = Elements.of(name);
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
                return new Output(name, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);
            }
            difference = Math.max(difference, Math.abs(a - b));
            scale = Math.max(scale, Math.abs(a));
        }
        return new Output(name, difference / (scale == 0 ? 1 : scale), difference);
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

    /** Element types, each with its method to read an element. */
    private enum Elements {
        FLOAT32(true),
        FLOAT64(true),
        FLOAT16(true),
        BFLOAT16(true),
        INT32(false),
        INT64(false),
        INT16(false),
        INT8(false),
        UINT32(false),
        UINT64(false),
        UINT16(false),
        UINT8(false);

        final boolean isFloat;

        Elements(boolean isFloat) {
            this.isFloat = isFloat;
        }

        /** Returns a type; complex numbers are pairs of floats, other types are bytes. */
        static Elements of(String type) {
            return switch (type) {
                case "float32", "complex64" -> FLOAT32;
                case "float64" -> FLOAT64;
                case "float16" -> FLOAT16;
                case "bfloat16" -> BFLOAT16;
                case "int32" -> INT32;
                case "int64" -> INT64;
                case "int16" -> INT16;
                case "int8" -> INT8;
                case "uint32" -> UINT32;
                case "uint64" -> UINT64;
                case "uint16" -> UINT16;
                default -> UINT8;
            };
        }

        double next(ByteBuffer in) {
            return switch (this) {
                case FLOAT32 -> in.getFloat();
                case FLOAT64 -> in.getDouble();
                case FLOAT16 -> Float16Utils.halfToFloat(in.getShort());
                // The upper half of a 32-bit float.
                case BFLOAT16 -> Float.intBitsToFloat(in.getShort() << Short.SIZE);
                case INT32 -> in.getInt();
                case INT64 -> in.getLong();
                case INT16 -> in.getShort();
                case INT8 -> in.get();
                case UINT32 -> Integer.toUnsignedLong(in.getInt());
                case UINT64 -> UnsignedLong.fromLongBits(in.getLong()).doubleValue();
                case UINT16 -> Short.toUnsignedInt(in.getShort());
                case UINT8 -> Byte.toUnsignedInt(in.get());
            };
        }
    }
}
