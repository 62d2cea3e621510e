package org.djlplan.cli;

import java.io.BufferedInputStream;
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
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.candidates.OutputDifferences;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.thirdparty.guava.base.Enums;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Streams;

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

    private static final String BFLOAT16 = "bfloat16";

    OutputDifference {
        outputs = ImmutableList.copyOf(outputs);
    }

    /**
     * The outputs of a run, one after another in a file.
     *
     * @param parts the outputs in the file
     */
    record Written(Path file, List<Part> parts) {

        /**
         * One output.
         *
         * @param type of its elements, as DJL names it, in lower case
         */
        record Part(String type, int bytes) {}
    }

    /**
     * Difference of one output.
     *
     * @param type of its elements
     * @param largest the largest difference of two elements: relative for floating-point types, in
     *     steps for integers of 8 and 16 bits; for other types the number of elements that differ
     */
    record Output(ElementType type, double largest) {

        private boolean isFloat() {
            return switch (type) {
                case FLOAT16, FLOAT32, FLOAT64 -> true;
                default -> false;
            };
        }

        private boolean isQuantized() {
            return switch (type) {
                case INT8, UINT8, INT16, UINT16 -> true;
                default -> false;
            };
        }

        /** Returns the difference as a fraction of the largest value, or of the type's range. */
        double relative() {
            return isFloat() || largest == 0
                    ? largest
                    : isQuantized()
                            ? largest / ((1 << (Byte.SIZE * type.bytes())) - 1)
                            : Double.POSITIVE_INFINITY;
        }

        /** Returns the difference divided by a limit; above 1 the output is outside. */
        private double part(Limit limit) {
            double most = isFloat() ? limit.relative() : isQuantized() ? limit.steps() : 0;
            return largest == 0 ? 0 : largest / most;
        }

        private String text(double number) {
            return isFloat() ? scientific(number) : steps(number);
        }
    }

    /** Returns the largest relative error of all outputs; empty if none is finite. */
    OptionalDouble maxRelativeError() {
        double worst = outputs.stream().mapToDouble(Output::relative).max().orElse(0);
        return comparable && Double.isFinite(worst)
                ? OptionalDouble.of(worst)
                : OptionalDouble.empty();
    }

    /**
     * Returns whether the outputs are the same bytes or, if there is a tolerance, within it. Zeros
     * of both signs are equal numbers, but not the same bytes.
     */
    boolean isAccepted(double tolerance) {
        OptionalDouble error = maxRelativeError();
        return identical
                || (tolerance > 0 && error.isPresent() && error.getAsDouble() <= tolerance);
    }

    /**
     * The largest accepted differences; outputs of types without a limit must be equal.
     *
     * @param relative the largest difference of floating-point outputs
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
                && Streams.zip(outputs.stream(), repeated(limits), Output::part)
                        .allMatch(part -> part <= 1);
    }

    /** Returns the difference of the output that comes nearest to its limit, for people. */
    String agreement(List<Limit> limits) {
        return Streams.zip(outputs.stream(), repeated(limits), Map::entry)
                .max(Comparator.comparingDouble(each -> each.getKey().part(each.getValue())))
                .map(
                        each -> {
                            Output output = each.getKey();
                            Limit limit = each.getValue();
                            return "within %s (limit %s)"
                                    .formatted(
                                            output.text(output.largest()),
                                            output.text(
                                                    output.isFloat()
                                                            ? limit.relative()
                                                            : limit.steps()));
                        })
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
        largest(Output::isFloat).ifPresent(x -> parts.add(scientific(x)));
        largest(Output::isQuantized).ifPresent(n -> parts.add(steps(n)));
        largest(output -> !output.isFloat() && !output.isQuantized())
                .filter(n -> n > 0 || parts.isEmpty())
                .ifPresent(n -> parts.add(Figures.format("%.0f elements", n)));
        return parts.isEmpty() ? "0" : String.join(" and ", parts);
    }

    private Optional<Double> largest(Predicate<Output> kind) {
        return outputs.stream().filter(kind).map(Output::largest).max(Double::compare);
    }

    /** Returns a small number with at most two digits: 4.2e-6. */
    static String scientific(double number) {
        if (number == 0 || !Double.isFinite(number)) {
            return number == 0 ? "0" : "more than any number";
        }
        return Figures.format("%.1e", number)
                .replace(".0e", "e")
                .replaceFirst("e([+-])0*(\\d)", "e$1$2")
                .replace("e+", "e");
    }

    /** Returns a number of steps of a quantized output, for people. */
    static String steps(double number) {
        return Figures.format(number == 1 ? "%.0f step" : "%.0f steps", number);
    }

    /**
     * Returns the differences of several comparisons of the same model combined; at least one
     * comparison is required.
     */
    static OutputDifference worst(List<OutputDifference> differences) {
        return differences.stream().allMatch(OutputDifference::comparable)
                ? new OutputDifference(
                        differences.stream().allMatch(OutputDifference::identical),
                        true,
                        differences.stream().flatMap(each -> each.outputs.stream()).toList())
                : INCOMPARABLE;
    }

    /** Compares the outputs of two runs. */
    static OutputDifference between(Written expected, Written actual) throws IOException {
        if (!expected.parts().equals(actual.parts())) {
            return INCOMPARABLE;
        }
        if (Files.mismatch(expected.file(), actual.file()) < 0) {
            return NONE;
        }
        List<Output> outputs = new ArrayList<>();
        try (InputStream left = new BufferedInputStream(Files.newInputStream(expected.file()));
                InputStream right = new BufferedInputStream(Files.newInputStream(actual.file()))) {
            for (Written.Part part : expected.parts()) {
                OutputTensor reference = read(left, part);
                outputs.add(
                        new Output(
                                reference.info().type(),
                                OutputDifferences.of(read(right, part), reference).largest()));
            }
        }
        return new OutputDifference(false, true, outputs);
    }

    private static OutputTensor read(InputStream in, Written.Part part) throws IOException {
        ByteBuffer data =
                ByteBuffer.wrap(in.readNBytes(part.bytes())).order(ByteOrder.nativeOrder());
        if (part.type().equals(BFLOAT16)) {
            data = widened(data);
        }
        ElementType type = part.type().equals(BFLOAT16) ? ElementType.FLOAT32 : type(part.type());
        return new OutputTensor(new TensorInfo("", type, List.of(), data.capacity()), data);
    }

    /** Returns floats; a bfloat16 is the upper half of a float. */
    private static ByteBuffer widened(ByteBuffer halves) {
        ByteBuffer floats =
                ByteBuffer.allocate(2 * halves.capacity()).order(ByteOrder.nativeOrder());
        while (halves.hasRemaining()) {
            floats.putInt(halves.getShort() << Short.SIZE);
        }
        return floats.flip();
    }

    /** Returns an element type of DJL; complex numbers are pairs of floats. */
    private static ElementType type(String name) {
        return switch (name) {
            case "boolean" -> ElementType.BOOL;
            case "complex64" -> ElementType.FLOAT32;
            default ->
                    Enums.getIfPresent(ElementType.class, name.toUpperCase(Locale.ROOT))
                            .or(ElementType.OPAQUE);
        };
    }
}
