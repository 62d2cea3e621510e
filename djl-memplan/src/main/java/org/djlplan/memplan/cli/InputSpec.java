package org.djlplan.memplan.cli;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * What a user says about one input of a model.
 *
 * @param shape every dimension at least 1
 * @param type element type; empty: as the model says, or 32-bit floats
 */
record InputSpec(Shape shape, Optional<DataType> type) {

    private static final Pattern SYNTAX = Pattern.compile("\\d+(,\\d+)*(:\\w+)?");

    InputSpec {
        if (Arrays.stream(shape.getShape()).anyMatch(dimension -> dimension < 1)) {
            throw new IllegalArgumentException("dimensions must be at least 1: " + shape);
        }
    }

    /** Reads {@code 1,3,224,224} or {@code 1,128:int64}. */
    static InputSpec parse(String text) {
        if (!SYNTAX.matcher(text).matches()) {
            throw new IllegalArgumentException("not a shape such as 1,3,224,224: '" + text + "'");
        }
        int colon = text.indexOf(':');
        String dimensions = colon < 0 ? text : text.substring(0, colon);
        Shape shape =
                new Shape(
                        Arrays.stream(dimensions.split(",", -1))
                                .mapToLong(Long::parseLong)
                                .toArray());
        return new InputSpec(
                shape, colon < 0 ? Optional.empty() : Optional.of(type(text.substring(colon + 1))));
    }

    /** Returns the text that {@link #parse} reads. */
    String text() {
        String dimensions =
                Arrays.stream(shape.getShape())
                        .mapToObj(Long::toString)
                        .collect(Collectors.joining(","));
        return dimensions + type.map(t -> ":" + t.name().toLowerCase(Locale.ROOT)).orElse("");
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

    /** {@link #parse} for picocli. */
    static final class Converter implements ITypeConverter<InputSpec> {
        @Override
        public InputSpec convert(String text) {
            try {
                return parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
