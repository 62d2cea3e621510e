package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.io.Files;

/**
 * Reads the inputs of an {@code .onnx} model without an engine. The file is a message in the format
 * of protocol buffers, of at most 2 GiB. The numbers of fields are those of {@code onnx.proto}.
 */
final class OnnxInputs {

    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int MESSAGE = 2;
    private static final int FIXED32 = 5;

    /** A dimension that the model leaves open. */
    private static final long OPEN = -1;

    private OnnxInputs() {}

    /**
     * An input of the graph.
     *
     * @param type ONNX's number of the element type
     * @param dimensions {@link #OPEN} where any length is possible
     */
    private record Input(String name, int type, List<Long> dimensions) {

        boolean isOpen() {
            return dimensions.contains(OPEN);
        }

        /** Open dimensions are 1. */
        InputSpec toSpec() {
            return new InputSpec(
                    new Shape(dimensions.stream().mapToLong(n -> n == OPEN ? 1 : n).toArray()),
                    Optional.of(dataType()));
        }

        private DataType dataType() {
            return switch (type) {
                case 1 -> DataType.FLOAT32;
                case 2 -> DataType.UINT8;
                case 3 -> DataType.INT8;
                case 5 -> DataType.INT16;
                case 6 -> DataType.INT32;
                case 7 -> DataType.INT64;
                case 9 -> DataType.BOOLEAN;
                case 11 -> DataType.FLOAT64;
                default ->
                        throw new Failure(
                                "input '" + name + "' of ONNX type " + type + " is not supported");
            };
        }

        @Override
        public String toString() {
            return dimensions.stream()
                    .map(length -> length == OPEN ? "?" : length.toString())
                    .collect(Collectors.joining(",", name + " ", ""));
        }
    }

    /**
     * Returns the inputs of a model with the shapes that the user requested.
     *
     * @param given one per input, or none
     * @throws IllegalArgumentException if the number, a type or a number of dimensions differs, or
     *     none are given and the model leaves dimensions open
     * @throws Failure if the file is not an ONNX model, or random values cannot be generated for an
     *     input's type
     */
    static ImmutableList<InputSpec> complete(Path model, List<InputSpec> given) {
        List<Input> own = read(model);
        checkArgument(
                !given.isEmpty() || own.stream().noneMatch(Input::isOpen),
                "the model leaves dimensions of its inputs open, %s: give --input-shape",
                own);
        return InputSpec.reshape(own.stream().map(Input::toSpec).toList(), given);
    }

    private static List<Input> read(Path model) {
        List<Input> inputs;
        try {
            Field file = new Field(0, 0, Files.map(model.toFile()));
            // Older models list weights as inputs, too.
            Set<String> weights = file.at(7, 5, 8).map(Field::text).collect(Collectors.toSet());
            inputs =
                    file.at(7, 11)
                            .map(OnnxInputs::input)
                            .filter(input -> !weights.contains(input.name()))
                            .toList();
        } catch (IOException | RuntimeException e) {
            throw new Failure("not an ONNX model: " + model, e);
        }
        if (inputs.isEmpty()) {
            throw new Failure("no ONNX model with inputs: " + model);
        }
        return inputs;
    }

    /** Only the types of tensors have a field 1. */
    private static Input input(Field input) {
        return new Input(
                input.at(1).map(Field::text).collect(Collectors.joining()),
                input.at(2, 1, 1).map(Field::value).findFirst().map(Math::toIntExact).orElse(0),
                input.at(2, 1, 2, 1)
                        .map(each -> each.at(1).map(Field::value).findFirst().orElse(OPEN))
                        .toList());
    }

    /**
     * A field of a message.
     *
     * @param value of a field that is an integer, 0 for others
     * @param content of a field that is a text or a message
     */
    private record Field(int number, long value, ByteBuffer content) {

        /** Returns the fields at a path of numbers below this message. */
        Stream<Field> at(int... path) {
            Stream<Field> fields = Stream.of(this);
            for (int number : path) {
                fields =
                        fields.flatMap(each -> each.fields().stream())
                                .filter(each -> each.number() == number);
            }
            return fields;
        }

        private List<Field> fields() {
            List<Field> fields = new ArrayList<>();
            ByteBuffer in = content.duplicate();
            while (in.hasRemaining()) {
                long key = varint(in);
                int kind = (int) (key & 7);
                long value = kind == VARINT ? varint(in) : 0;
                int bytes =
                        switch (kind) {
                            case VARINT -> 0;
                            case FIXED64 -> Long.BYTES;
                            case FIXED32 -> Integer.BYTES;
                            case MESSAGE -> Math.toIntExact(varint(in));
                            default ->
                                    throw new IllegalArgumentException("a field of kind " + kind);
                        };
                ByteBuffer field = in.slice(in.position(), bytes);
                fields.add(new Field(Math.toIntExact(key >>> 3), value, field));
                in.position(in.position() + bytes);
            }
            return fields;
        }

        String text() {
            return StandardCharsets.UTF_8.decode(content.duplicate()).toString();
        }
    }

    private static long varint(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte next = in.get();
            value |= (long) (next & 0x7F) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new IllegalArgumentException("a number without an end");
    }
}
