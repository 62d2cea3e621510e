package org.djlplan.memplan.internal.engine;

import ai.djl.ndarray.types.DataType;
import ai.djl.util.Float16Utils;
import java.nio.ByteBuffer;

/** Reads and writes the elements of a buffer as numbers, for any type. */
final class Elements {

    private static final int BYTE = 0xff;

    private final ByteBuffer data;
    private final DataType type;
    private final int width;
    private final int count;

    /**
     * @param data from its first byte to its limit, in native byte order
     * @throws UnsupportedOperationException if elements of the type are not numbers
     */
    Elements(ByteBuffer data, DataType type) {
        ElementTypes.requireNumbers(type);
        this.data = data;
        this.type = type;
        width = type.getNumOfBytes();
        count = data.limit() / width;
    }

    int count() {
        return count;
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

    /** Returns an integer. */
    long getLong(int index) {
        int at = index * width;
        return switch (type) {
            case INT8 -> data.get(at);
            case BOOLEAN -> data.get(at) == 0 ? 0 : 1;
            case UINT8 -> data.get(at) & BYTE;
            case INT16 -> data.getShort(at);
            case INT32 -> data.getInt(at);
            case INT64 -> data.getLong(at);
            default -> throw new IllegalStateException("numbers with a fraction: " + type);
        };
    }

    /**
     * Sets an element. Integers drop the fraction; a value out of range becomes the nearest number
     * of the type, and NaN becomes 0.
     */
    void set(int index, double value) {
        int at = index * width;
        switch (type) {
            case FLOAT32 -> data.putFloat(at, (float) value);
            case FLOAT64 -> data.putDouble(at, value);
            case FLOAT16 -> data.putShort(at, half((float) value));
            case BOOLEAN -> data.put(at, (byte) (value == 0 ? 0 : 1));
            case UINT8 -> data.put(at, (byte) Math.max(0, Math.min(BYTE, (int) value)));
            case INT8 -> data.put(at, (byte) between(Byte.MIN_VALUE, (int) value, Byte.MAX_VALUE));
            case INT16 ->
                    data.putShort(
                            at, (short) between(Short.MIN_VALUE, (int) value, Short.MAX_VALUE));
            case INT32 -> data.putInt(at, (int) value);
            default -> data.putLong(at, (long) value);
        }
    }

    private static int between(int least, int value, int most) {
        return Math.max(least, Math.min(most, value));
    }

    /** Sets an element to an integer, truncated to the bits of the type. */
    void setLong(int index, long value) {
        int at = index * width;
        switch (type) {
            case INT8, UINT8 -> data.put(at, (byte) value);
            case BOOLEAN -> data.put(at, (byte) (value == 0 ? 0 : 1));
            case INT16 -> data.putShort(at, (short) value);
            case INT32 -> data.putInt(at, (int) value);
            case INT64 -> data.putLong(at, value);
            case FLOAT32 -> data.putFloat(at, (float) value);
            case FLOAT64 -> data.putDouble(at, (double) value);
            default -> data.putShort(at, half((float) value));
        }
    }

    /** Sets all elements to the converted elements of another buffer. */
    void setAll(Elements other) {
        boolean whole = ElementTypes.isWhole(other.type);
        for (int i = 0; i < count; i++) {
            if (whole) {
                setLong(i, other.getLong(i));
            } else {
                set(i, other.get(i));
            }
        }
    }

    /** Returns the nearest 16-bit float; ties go to the even one. */
    private static short half(float value) {
        int bits = Float.floatToRawIntBits(value);
        int sign = (bits >>> 16) & 0x8000;
        float size = Math.abs(value);
        if (Float.isNaN(value)) {
            return (short) (sign | 0x7e00);
        }
        if (size >= 65520) {
            return (short) (sign | 0x7c00);
        }
        if (size < 0x1p-14f) {
            // In steps of 2^-24, the sum has exactly these bits, rounded.
            return (short) (sign | (Float.floatToRawIntBits(size + 0.5f) - 0x3f000000));
        }
        int magnitude = bits & 0x7fffffff;
        int rounded = magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1);
        return (short) (sign | (rounded >> 13));
    }
}
