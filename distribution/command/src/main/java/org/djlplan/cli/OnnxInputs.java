package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Reads the inputs of an {@code .onnx} model without an engine. The file is a message in the format
 * of protocol buffers; weights are skipped. The numbers of fields are those of {@code onnx.proto}.
 */
final class OnnxInputs {

    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int MESSAGE = 2;
    private static final int FIXED32 = 5;

    private static final int MOST_NAME_BYTES = 1 << 16;

    /** The path from a model to its graph's weights' names, and to its inputs. */
    private static final List<Integer> WEIGHT_NAME = List.of(7, 5, 8);

    private static final List<Integer> INPUT = List.of(7, 11);

    /** The paths from an input to its parts; only the types of tensors have a field 1. */
    private static final List<Integer> NAME = List.of(1);

    private static final List<Integer> ELEMENT_TYPE = List.of(2, 1, 1);
    private static final List<Integer> DIMENSION = List.of(2, 1, 2, 1);

    /** A dimension that the model leaves open. */
    private static final long OPEN = -1;

    private final FileChannel file;

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

    /** Receives the fields at the end of a path. */
    @FunctionalInterface
    private interface Field {

        /**
         * Reads a field, from the file's position on.
         *
         * @param value of a field that is an integer, 0 for others
         * @param end of the field; an integer has been read already
         */
        void read(long value, long end) throws IOException;
    }

    private OnnxInputs(FileChannel file) {
        this.file = file;
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
        try (FileChannel file = FileChannel.open(model)) {
            OnnxInputs reader = new OnnxInputs(file);
            List<Input> inputs = new ArrayList<>();
            Set<String> weights = new HashSet<>();
            reader.walk(
                    file.size(),
                    Map.of(
                            WEIGHT_NAME, (value, end) -> weights.add(reader.text(end)),
                            INPUT, (value, end) -> inputs.add(reader.input(end))));
            // Older models list weights as inputs, too.
            inputs.removeIf(input -> weights.contains(input.name()));
            if (inputs.isEmpty()) {
                throw new Failure("no ONNX model with inputs: " + model);
            }
            return inputs;
        } catch (IOException | ArithmeticException e) {
            throw new Failure("not an ONNX model: " + model, e);
        }
    }

    private Input input(long end) throws IOException {
        StringBuilder name = new StringBuilder();
        int[] type = new int[1];
        List<Long> dimensions = new ArrayList<>();
        walk(
                end,
                Map.of(
                        NAME, (value, fieldEnd) -> name.append(text(fieldEnd)),
                        ELEMENT_TYPE, (value, fieldEnd) -> type[0] = Math.toIntExact(value),
                        DIMENSION, (value, fieldEnd) -> dimensions.add(length(fieldEnd))));
        return new Input(name.toString(), type[0], List.copyOf(dimensions));
    }

    private long length(long end) throws IOException {
        long[] length = {OPEN};
        walk(end, Map.of(List.of(1), (value, fieldEnd) -> length[0] = value));
        return length[0];
    }

    private void walk(long end, Map<List<Integer>, Field> fields) throws IOException {
        walk(end, List.of(), fields);
    }

    /**
     * Reads the fields of a message up to its end, and the messages in it that lead to wanted
     * fields. Bytes that no field reads are skipped.
     */
    private void walk(long end, List<Integer> path, Map<List<Integer>, Field> fields)
            throws IOException {
        while (file.position() < end) {
            long key = varint();
            int kind = (int) (key & 7);
            long value = kind == VARINT ? varint() : 0;
            long bytes =
                    switch (kind) {
                        case VARINT -> 0;
                        case FIXED64 -> Long.BYTES;
                        case FIXED32 -> Integer.BYTES;
                        case MESSAGE -> varint();
                        default -> throw new IOException("a field of kind " + kind);
                    };
            long fieldEnd = Math.addExact(file.position(), bytes);
            if (bytes < 0 || fieldEnd > end) {
                throw new EOFException("a field ends at " + fieldEnd + " of " + end);
            }
            List<Integer> here =
                    ImmutableList.<Integer>builder()
                            .addAll(path)
                            .add(Math.toIntExact(key >>> 3))
                            .build();
            if (fields.containsKey(here)) {
                fields.get(here).read(value, fieldEnd);
            } else if (fields.keySet().stream().anyMatch(wanted -> begins(wanted, here))) {
                walk(fieldEnd, here, fields);
            }
            file.position(fieldEnd);
        }
    }

    private static boolean begins(List<Integer> wanted, List<Integer> path) {
        return path.size() < wanted.size() && wanted.subList(0, path.size()).equals(path);
    }

    private long varint() throws IOException {
        DataInputStream in = new DataInputStream(Channels.newInputStream(file));
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            int next = in.readUnsignedByte();
            value |= (long) (next & 0x7F) << shift;
            if (next < 0x80) {
                return value;
            }
        }
        throw new IOException("a number without an end");
    }

    private String text(long end) throws IOException {
        long bytes = end - file.position();
        if (bytes > MOST_NAME_BYTES) {
            throw new IOException("a name of " + bytes + " bytes");
        }
        byte[] text = new byte[(int) bytes];
        new DataInputStream(Channels.newInputStream(file)).readFully(text);
        return new String(text, StandardCharsets.UTF_8);
    }
}
