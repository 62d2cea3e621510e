package org.djlplan.memplan.internal.engine;

import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.djlplan.thirdparty.guava.primitives.Ints;

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

    /** Returns DJL's shape. */
    Shape djlShape() {
        return new Shape(Arrays.stream(shape).asLongStream().toArray());
    }

    int size() {
        return Math.toIntExact(djlShape().size());
    }

    /** Returns whether the elements are contiguous in row-major order. */
    boolean isContiguous() {
        int next = 1;
        for (int i = shape.length - 1; i >= 0; i--) {
            if (shape[i] != 1 && strides[i] != next) {
                return size() == 0;
            }
            next *= shape[i];
        }
        return true;
    }

    /** Returns whether two indices refer to the same element. */
    boolean repeats() {
        return size() > 0
                && IntStream.range(0, shape.length).anyMatch(i -> strides[i] == 0 && shape[i] > 1);
    }

    /**
     * Returns the same elements in another shape, or empty if no strides express that: the rule of
     * PyTorch's {@code computeStride}. Contiguous dimensions form one chunk, which the new
     * dimensions divide.
     */
    Optional<StridedView> reshaped(Shape wanted) {
        StridedView packed = of(wanted);
        int[] to = packed.shape;
        if (isContiguous()) {
            return Optional.of(new StridedView(offset, to, packed.strides));
        }
        int[] steps = new int[to.length];
        int next = to.length - 1;
        int chunk = 1;
        int chunkStride = strides[shape.length - 1];
        for (int i = shape.length - 1; i >= 0; i--) {
            chunk *= shape[i];
            if (i > 0 && (shape[i - 1] == 1 || strides[i - 1] == chunk * chunkStride)) {
                continue;
            }
            int covered = 1;
            while (next >= 0 && (covered < chunk || to[next] == 1)) {
                steps[next] = covered * chunkStride;
                covered *= to[next--];
            }
            if (covered != chunk) {
                return Optional.empty();
            }
            chunk = 1;
            chunkStride = i > 0 ? strides[i - 1] : 0;
        }
        return Optional.of(new StridedView(offset, to, steps));
    }

    /** Returns the view with one more dimension, of length 1. */
    StridedView expanded(int axis) {
        List<Integer> lengths = new ArrayList<>(Ints.asList(shape));
        List<Integer> steps = new ArrayList<>(Ints.asList(strides));
        lengths.add(axis, 1);
        steps.add(axis, 1);
        return new StridedView(offset, Ints.toArray(lengths), Ints.toArray(steps));
    }

    /** Returns the elements at one index of an axis, without that axis. */
    StridedView picked(int axis, int index) {
        List<Integer> lengths = new ArrayList<>(Ints.asList(shape));
        List<Integer> steps = new ArrayList<>(Ints.asList(strides));
        lengths.remove(axis);
        steps.remove(axis);
        return new StridedView(
                offset + index * strides[axis], Ints.toArray(lengths), Ints.toArray(steps));
    }

    /** Returns the view with its dimensions permuted. */
    StridedView transposed(int[] axes) {
        return new StridedView(
                offset,
                Arrays.stream(axes).map(axis -> shape[axis]).toArray(),
                Arrays.stream(axes).map(axis -> strides[axis]).toArray());
    }

    /** Returns {@code count} elements of an axis, every step-th from {@code start} on. */
    StridedView sliced(int axis, int start, int step, int count) {
        int[] lengths = shape.clone();
        int[] steps = strides.clone();
        lengths[axis] = count;
        steps[axis] *= step;
        return new StridedView(offset + start * strides[axis], lengths, steps);
    }

    /**
     * Returns the view broadcast to a larger shape.
     *
     * @param wanted −1 keeps a length
     * @throws IllegalArgumentException if a dimension is neither 1 nor the wanted one
     */
    StridedView broadcast(int[] wanted) {
        int missing = wanted.length - shape.length;
        int[] lengths = wanted.clone();
        int[] steps = new int[wanted.length];
        for (int i = Math.min(0, missing); i < wanted.length; i++) {
            int own = i < missing ? 1 : shape[i - missing];
            if (i >= 0 && i >= missing && wanted[i] == -1) {
                lengths[i] = own;
            }
            if (i < 0 || lengths[i] < 0 || (own != 1 && own != lengths[i])) {
                throw new IllegalArgumentException(
                        djlShape() + " cannot be broadcast to " + Arrays.toString(wanted));
            }
            steps[i] = own == 1 ? 0 : strides[i - missing];
        }
        return new StridedView(offset, lengths, steps);
    }

    /** Copies elements to a view of the same shape. */
    static void copy(
            ByteBuffer from, StridedView source, ByteBuffer to, StridedView target, int width) {
        if (source.size() == 0) {
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
