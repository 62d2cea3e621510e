package org.djlplan.cli;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.djlplan.memplan.internal.source.tflite.TfLiteFormatException;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * Shape and type of one model input, as given by a user.
 *
 * @param shape every dimension at least 1; no dimensions for a scalar
 * @param type element type; if empty, the type in the model or, if the model states none, 32-bit
 *     floats
 * @param value of all elements, such as a sampling rate; empty for random values
 */
record InputSpec(Shape shape, Optional<DataType> type, OptionalDouble value) {

    /** The shape without dimensions, as text. */
    private static final String SCALAR = "scalar";

    private static final Pattern SYNTAX =
            Pattern.compile(
                    "("
                            + SCALAR
                            + "|\\d+(?:,\\d+)*)(?::(\\w+))?(?:=(-?\\d{1,15}(?:\\.\\d{1,15})?))?");

    /** An input of random values. */
    InputSpec(Shape shape, Optional<DataType> type) {
        this(shape, type, OptionalDouble.empty());
    }

    InputSpec {
        if (Arrays.stream(shape.getShape()).anyMatch(dimension -> dimension < 1)) {
            throw new IllegalArgumentException("dimensions must be at least 1: " + shape);
        }
    }

    /** Parses {@code 1,3,224,224}, {@code 1,128:int64} or {@code scalar:int64=16000}. */
    static InputSpec parse(String text) {
        Matcher parts = SYNTAX.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("not a shape such as 1,3,224,224: '" + text + "'");
        }
        String dimensions = parts.group(1);
        Shape shape =
                dimensions.equals(SCALAR)
                        ? new Shape()
                        : new Shape(
                                Arrays.stream(dimensions.split(",", -1))
                                        .mapToLong(Long::parseLong)
                                        .toArray());
        return new InputSpec(
                shape,
                Optional.ofNullable(parts.group(2)).map(InputSpec::type),
                parts.group(3) == null
                        ? OptionalDouble.empty()
                        : OptionalDouble.of(Double.parseDouble(parts.group(3))));
    }

    /** Returns the text that {@link #parse} accepts. */
    String text() {
        String dimensions =
                shape.isScalar()
                        ? SCALAR
                        : Arrays.stream(shape.getShape())
                                .mapToObj(Long::toString)
                                .collect(Collectors.joining(","));
        return dimensions
                + type.map(t -> ":" + t.name().toLowerCase(Locale.ROOT)).orElse("")
                + (value.isPresent()
                        ? "=" + BigDecimal.valueOf(value.getAsDouble()).toPlainString()
                        : "");
    }

    /**
     * Returns the inputs with the shapes that the user requested.
     *
     * @param given one per input, or none
     * @throws IllegalArgumentException if the number, a type or a number of dimensions differs
     */
    static ImmutableList<InputSpec> reshape(List<InputSpec> own, List<InputSpec> given) {
        if (given.isEmpty()) {
            return ImmutableList.copyOf(own);
        }
        if (given.size() != own.size()) {
            throw new IllegalArgumentException(
                    "the model's inputs are %s: %d, not %d"
                            .formatted(texts(own), own.size(), given.size()));
        }
        ImmutableList.Builder<InputSpec> inputs = ImmutableList.builder();
        for (int i = 0; i < own.size(); i++) {
            InputSpec mine = own.get(i);
            InputSpec wanted = given.get(i);
            if (mine.shape().dimension() != wanted.shape().dimension()
                    || (wanted.type().isPresent() && !wanted.type().equals(mine.type()))) {
                throw new IllegalArgumentException(
                        "input %d of the model is %s, which %s does not fit"
                                .formatted(i, mine.text(), wanted.text()));
            }
            inputs.add(new InputSpec(wanted.shape(), mine.type(), wanted.value()));
        }
        return inputs.build();
    }

    /** Returns the inputs as users write them. */
    static String texts(List<InputSpec> inputs) {
        return String.join(" ", inputs.stream().map(InputSpec::text).toList());
    }

    private static DataType type(String name) {
        return Arrays.stream(DataType.values())
                .filter(type -> ModelInput.isSupported(type) && type.name().equalsIgnoreCase(name))
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "unknown element type '" + name + "' of an input"));
    }

    /** The inputs of a {@code .tflite} model, read without an engine. */
    static final class OfTfLite {

        private OfTfLite() {}

        /**
         * Returns the inputs of a model with the shapes that the user requested.
         *
         * @param given one per input, or none
         * @throws IllegalArgumentException if the number, a type or a number of dimensions differs,
         *     or none are given and the model leaves dimensions open
         * @throws Failure if the file is not a model, or random values cannot be generated for an
         *     input's type
         */
        static ImmutableList<InputSpec> complete(Path model, List<InputSpec> given) {
            List<TfLiteTensor> own = inputs(model);
            for (TfLiteTensor input : own) {
                if (given.isEmpty() && input.shape().stream().anyMatch(OfTfLite::isOpen)) {
                    throw new IllegalArgumentException(
                            "the model leaves dimensions of input '%s' open, %s: give --input-shape"
                                    .formatted(input.name(), input.shape()));
                }
            }
            return reshape(own.stream().map(OfTfLite::spec).toList(), given);
        }

        /** Returns whether inputs have the shapes in the model's file. */
        static boolean areAsInFile(Path model, List<InputSpec> inputs) {
            return inputs.stream()
                    .map(InputSpec::shape)
                    .toList()
                    .equals(
                            inputs(model).stream()
                                    .map(input -> new Shape(Longs.toArray(input.shape())))
                                    .toList());
        }

        private static List<TfLiteTensor> inputs(Path model) {
            try {
                TfLiteSubgraph graph = TfLiteReader.read(model).main();
                return graph.inputs().stream().map(graph.tensors()::get).toList();
            } catch (TfLiteFormatException e) {
                throw new Failure(e.getMessage());
            }
        }

        static List<List<Integer>> dimensions(List<InputSpec> inputs) {
            return inputs.stream().map(input -> Ints.asList(dimensions(input.shape()))).toList();
        }

        static int[] dimensions(Shape shape) {
            return Arrays.stream(shape.getShape()).mapToInt(Math::toIntExact).toArray();
        }

        /** Returns the input; open dimensions are 1. */
        private static InputSpec spec(TfLiteTensor input) {
            long[] shape = input.shape().stream().mapToLong(n -> isOpen(n) ? 1 : n).toArray();
            return new InputSpec(new Shape(shape), Optional.of(type(input)));
        }

        /** Some writers store 0 for a dimension of any length. */
        private static boolean isOpen(int dimension) {
            return dimension < 1;
        }

        private static DataType type(TfLiteTensor input) {
            String name = input.elementType().name();
            return Arrays.stream(DataType.values())
                    .filter(ModelInput::isSupported)
                    .filter(type -> type.name().equals(name.equals("BOOL") ? "BOOLEAN" : name))
                    .findFirst()
                    .orElseThrow(
                            () ->
                                    new Failure(
                                            "input '%s' of type %s is not supported"
                                                    .formatted(input.name(), name)));
        }
    }
}
