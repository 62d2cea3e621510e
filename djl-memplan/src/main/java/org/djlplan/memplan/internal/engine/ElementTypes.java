package org.djlplan.memplan.internal.engine;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

/**
 * The result types of operations, by PyTorch's rules (see "type promotion" in its documentation).
 */
final class ElementTypes {

    private ElementTypes() {}

    /** Returns whether a type is an integer type. */
    static boolean isWhole(DataType type) {
        return switch (type) {
            case FLOAT16, FLOAT32, FLOAT64 -> false;
            default -> true;
        };
    }

    /**
     * Checks that elements of a type can be read as numbers.
     *
     * @throws UnsupportedOperationException if they cannot
     */
    static void requireNumbers(DataType type) {
        switch (type) {
            case FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, UINT8, BOOLEAN -> {}
            default -> throw new UnsupportedOperationException("no numbers: " + type);
        }
    }

    /** Returns 0 for booleans, 1 for integers, 2 for floating-point numbers. */
    static int category(DataType type) {
        requireNumbers(type);
        return type == DataType.BOOLEAN ? 0 : isWhole(type) ? 1 : 2;
    }

    /**
     * Returns the type of two concatenated arrays, which can represent the numbers of both.
     *
     * @throws UnsupportedOperationException if one of them is not numeric
     */
    static DataType promoted(DataType one, DataType other) {
        if (one == other) {
            return one;
        }
        int difference = category(one) - category(other);
        if (difference != 0) {
            return difference > 0 ? one : other;
        }
        if (one.getNumOfBytes() == other.getNumOfBytes()) {
            return DataType.INT16; // of INT8 and UINT8
        }
        return one.getNumOfBytes() > other.getNumOfBytes() ? one : other;
    }

    /**
     * Returns the type of an operation on two arrays. A scalar changes the type of an array with
     * dimensions only if it is of a higher category.
     */
    static DataType promoted(DataType one, Shape shape, DataType other, Shape otherShape) {
        if (shape.isScalar() == otherShape.isScalar()) {
            return promoted(one, other);
        }
        DataType scalar = shape.isScalar() ? one : other;
        DataType array = shape.isScalar() ? other : one;
        return category(scalar) > category(array) ? scalar : array;
    }
}
