package org.djlplan.memplan.engine;

import ai.djl.ndarray.types.Shape;
import com.google.common.primitives.Ints;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Elements of a buffer by strides: element (i, j, …) lies at offset + i × strides[0] + j ×
 * strides[1] + …, counted in elements.
 */
record StridedView(int offset, int[] shape, int[] strides) {

    /** Returns the view of a whole buffer, in row-major order. */
    static StridedView of(Shape shape) {
        int[] dimensions = Arrays.stream(shape.getShape()).mapToInt(Ints::checkedCast).toArray();
        int[] strides = new int[dimensions.length];
        int stride = 1;
        for (int i = dimensions.length - 1; i >= 0; i--) {
            strides[i] = stride;
            stride *= dimensions[i];
        }
        return new StridedView(0, dimensions, strides);
    }

    /** Returns the shape as DJL has it. */
    Shape djlShape() {
        return new Shape(Arrays.stream(shape).asLongStream().toArray());
    }

    /** Returns the view with its dimensions in another order. */
    StridedView transposed(int[] axes) {
        return new StridedView(
                offset,
                Arrays.stream(axes).map(axis -> shape[axis]).toArray(),
                Arrays.stream(axes).map(axis -> strides[axis]).toArray());
    }

    /** Returns every step-th element of an axis, from {@code start} on, {@code count} of them. */
    StridedView sliced(int axis, int start, int step, int count) {
        int[] lengths = shape.clone();
        int[] steps = strides.clone();
        lengths[axis] = count;
        steps[axis] *= step;
        return new StridedView(offset + start * strides[axis], lengths, steps);
    }

    /**
     * Returns the view repeated to a larger shape.
     *
     * @throws IllegalArgumentException if a dimension is neither 1 nor as wanted
     */
    StridedView broadcast(int[] wanted) {
        int[] steps = new int[wanted.length];
        int missing = wanted.length - shape.length;
        for (int i = 0; i < wanted.length; i++) {
            int own = i < missing ? 1 : shape[i - missing];
            if (missing < 0 || (own != 1 && own != wanted[i])) {
                throw new IllegalArgumentException(
                        djlShape() + " cannot be broadcast to " + Arrays.toString(wanted));
            }
            steps[i] = own == 1 ? 0 : strides[i - missing];
        }
        return new StridedView(offset, wanted, steps);
    }

    /** Copies elements to a view of the same shape. */
    static void copy(
            ByteBuffer from, StridedView source, ByteBuffer to, StridedView target, int width) {
        if (Arrays.stream(source.shape).anyMatch(length -> length == 0)) {
            return;
        }
        copy(from, source, source.offset, to, target, target.offset, 0, width);
    }

    private static void copy(
            ByteBuffer from,
            StridedView source,
            int first,
            ByteBuffer to,
            StridedView target,
            int second,
            int axis,
            int width) {
        int rank = source.shape.length;
        if (axis == rank) {
            to.put(second * width, from, first * width, width);
            return;
        }
        int length = source.shape[axis];
        if (axis == rank - 1 && source.strides[axis] == 1 && target.strides[axis] == 1) {
            to.put(second * width, from, first * width, length * width);
            return;
        }
        int one = source.strides[axis];
        int other = target.strides[axis];
        if (axis == rank - 1) {
            for (int i = 0; i < length; i++) {
                element(from, (first + i * one) * width, to, (second + i * other) * width, width);
            }
            return;
        }
        for (int i = 0; i < length; i++) {
            copy(from, source, first + i * one, to, target, second + i * other, axis + 1, width);
        }
    }

    private static void element(ByteBuffer from, int first, ByteBuffer to, int second, int width) {
        switch (width) {
            case 1 -> to.put(second, from.get(first));
            case Short.BYTES -> to.putShort(second, from.getShort(first));
            case Integer.BYTES -> to.putInt(second, from.getInt(first));
            default -> to.putLong(second, from.getLong(first));
        }
    }
}
