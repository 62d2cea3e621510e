package org.djlplan.cli;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Random;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * One input of a model with the memory for its values, which is reused by all predictions so that
 * creating inputs does not affect memory figures.
 *
 * @param shape every dimension at least 1
 * @param type element type
 * @param values direct, in native byte order, of exactly the input's size
 * @param value of all elements; empty for random ones
 */
record ModelInput(Shape shape, DataType type, ByteBuffer values, OptionalDouble value) {

    /** Identifiers, for example of words, are usually small; larger ones might not exist. */
    private static final int INDEX_LIMIT = 10;

    ModelInput {
        if (!values.isDirect() || values.capacity() != sizeBytes(shape, type)) {
            throw new IllegalArgumentException("buffer does not fit " + shape + " of " + type);
        }
    }

    static boolean isSupported(DataType type) {
        return switch (type) {
            case FLOAT32, FLOAT64, INT8, UINT8, INT16, INT32, INT64, BOOLEAN -> true;
            default -> false;
        };
    }

    /** Returns inputs filled with zeros, of 32-bit floats unless a type is given. */
    static ImmutableList<ModelInput> allocate(List<InputSpec> specs) {
        return specs.stream()
                .map(
                        spec ->
                                allocate(
                                        spec.shape(),
                                        spec.type().orElse(DataType.FLOAT32),
                                        spec.value()))
                .collect(ImmutableList.toImmutableList());
    }

    /** Returns an input filled with zeros; {@link Failure} if its type is not supported. */
    static ModelInput allocate(Shape shape, DataType type) {
        return allocate(shape, type, OptionalDouble.empty());
    }

    private static ModelInput allocate(Shape shape, DataType type, OptionalDouble value) {
        if (!isSupported(type)) {
            throw new Failure("inputs of element type " + type + " are not supported");
        }
        ByteBuffer values =
                ByteBuffer.allocateDirect(sizeBytes(shape, type)).order(ByteOrder.nativeOrder());
        return new ModelInput(shape, type, values, value);
    }

    /**
     * Fills in random values, unless the input has a value: floats in [0, 1), 8- and 16-bit
     * integers over their whole range, wider integers in [0, 10).
     */
    void fill(Random random) {
        values.clear();
        boolean given = value.isPresent();
        double each = value.orElse(0);
        while (values.hasRemaining()) {
            switch (type) {
                case FLOAT32 -> values.putFloat(given ? (float) each : random.nextFloat());
                case FLOAT64 -> values.putDouble(given ? each : random.nextDouble());
                case INT8, UINT8 -> values.put((byte) (given ? (int) each : random.nextInt()));
                case INT16 -> values.putShort((short) (given ? (int) each : random.nextInt()));
                case INT32 -> values.putInt(given ? (int) each : random.nextInt(INDEX_LIMIT));
                case INT64 -> values.putLong(given ? (long) each : random.nextInt(INDEX_LIMIT));
                case BOOLEAN -> values.put((byte) (given ? (int) each : random.nextInt(2)));
                default -> throw new IllegalStateException(type.toString());
            }
        }
        values.clear();
    }

    private static int sizeBytes(Shape shape, DataType type) {
        try {
            return Math.toIntExact(Math.multiplyExact(shape.size(), type.getNumOfBytes()));
        } catch (ArithmeticException e) {
            throw new Failure("an input of shape " + shape + " is larger than 2 GiB");
        }
    }
}
