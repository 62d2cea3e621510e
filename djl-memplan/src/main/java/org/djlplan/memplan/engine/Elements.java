package org.djlplan.memplan.engine;

import ai.djl.ndarray.types.DataType;
import ai.djl.util.Float16Utils;
import java.nio.ByteBuffer;

/** The elements of a buffer as numbers, whatever their type. */
final class Elements {

    private static final int BYTE = 0xff;

    private final ByteBuffer data;
    private final DataType type;
    private final int width;
    private final int count;

    /**
     * @param data from its first byte to its limit, in native order
     * @throws UnsupportedOperationException if elements of the type are no numbers
     */
    Elements(ByteBuffer data, DataType type) {
        this.data = data;
        this.type = type;
        width = type.getNumOfBytes();
        count = width == 0 ? 0 : data.limit() / width;
        switch (type) {
            case FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, UINT8, BOOLEAN -> {}
            default -> throw new UnsupportedOperationException("no numbers: " + type);
        }
    }

    int count() {
        return count;
    }

    /** Returns whether numbers of a type have no fraction. */
    static boolean isWhole(DataType type) {
        return switch (type) {
            case FLOAT16, FLOAT32, FLOAT64 -> false;
            default -> true;
        };
    }

    double get(int index) {
        int at = index * width;
        return switch (type) {
            case FLOAT32 -> data.getFloat(at);
            case FLOAT64 -> data.getDouble(at);
            case FLOAT16 -> Float16Utils.halfToFloat(data.getShort(at));
            default -> getLong(index);
        };
    }

    long getLong(int index) {
        int at = index * width;
        return switch (type) {
            case INT8, BOOLEAN -> data.get(at);
            case UINT8 -> data.get(at) & BYTE;
            case INT16 -> data.getShort(at);
            case INT32 -> data.getInt(at);
            case INT64 -> data.getLong(at);
            default -> (long) get(index);
        };
    }

    /** Sets an element; towards zero if it has no fraction. */
    void set(int index, double value) {
        int at = index * width;
        switch (type) {
            case FLOAT32 -> data.putFloat(at, (float) value);
            case FLOAT64 -> data.putDouble(at, value);
            case FLOAT16 -> data.putShort(at, Float16Utils.floatToHalf((float) value));
            case BOOLEAN -> data.put(at, (byte) (value == 0 ? 0 : 1));
            default -> setLong(index, (long) value);
        }
    }

    /** Sets an element; to the lowest bits if it is too large. */
    void setLong(int index, long value) {
        int at = index * width;
        switch (type) {
            case INT8, UINT8 -> data.put(at, (byte) value);
            case BOOLEAN -> data.put(at, (byte) (value == 0 ? 0 : 1));
            case INT16 -> data.putShort(at, (short) value);
            case INT32 -> data.putInt(at, (int) value);
            case INT64 -> data.putLong(at, value);
            default -> set(index, (double) value);
        }
    }

    /** Sets all elements to those of another, converted. */
    void setAll(Elements other) {
        if (isWhole(type) && isWhole(other.type)) {
            for (int i = 0; i < count; i++) {
                setLong(i, other.getLong(i));
            }
        } else {
            for (int i = 0; i < count; i++) {
                set(i, other.get(i));
            }
        }
    }
}
