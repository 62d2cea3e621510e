package org.djlplan.integration.current;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Generates arrays of all types, shapes and kinds of views. Their elements are the same in each
 * engine.
 */
final class ArraySamples {

    /** The types that PyTorch's engine has. */
    static final List<DataType> SHARED =
            List.of(
                    DataType.FLOAT32,
                    DataType.FLOAT64,
                    DataType.FLOAT16,
                    DataType.UINT8,
                    DataType.INT8,
                    DataType.INT32,
                    DataType.INT64,
                    DataType.BOOLEAN);

    /** Types that PyTorch's engine does not have, each with one of its types of the same width. */
    static final Map<DataType, DataType> CARRIERS =
            Map.of(
                    DataType.INT16, DataType.FLOAT16,
                    DataType.UINT16, DataType.FLOAT16,
                    DataType.BFLOAT16, DataType.FLOAT16,
                    DataType.UINT32, DataType.INT32,
                    DataType.UINT64, DataType.INT64);

    private static final double[] FRACTIONS = {
        0,
        1,
        Double.NaN,
        -1.5,
        Double.POSITIVE_INFINITY,
        3e9,
        -0.0,
        2.5,
        Double.NEGATIVE_INFINITY,
        100.7,
        1e-42,
        -7,
        65504,
        0.1,
        Double.MAX_VALUE
    };

    private static final long[] WHOLE = {
        0,
        1,
        -1,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        (1L << 53) + 1,
        127,
        128,
        255,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        -7,
        (1L << 60) + 1,
        5,
        32768
    };

    private ArraySamples() {}

    /** An array and its base; the base of an array that is not a view is the array itself. */
    record Made(NDArray base, NDArray array) {}

    /**
     * A description from which an array is made.
     *
     * @param kind name of the shape and the view
     * @param shape the shape of the array
     * @param baseShape the shape of the array of which the sample is a view
     * @param tame whether the elements are 1, 2, 5, 10 …; otherwise NaN, infinities and extremes
     *     occur
     */
    record Sample(
            String kind,
            DataType type,
            Shape shape,
            Shape baseShape,
            boolean tame,
            UnaryOperator<NDArray> view) {

        /**
         * Makes the array. If the other engine lacks the type, its array has a type of the same
         * width.
         */
        Made make(NDManager manager, boolean ours) {
            NDArray base = create(manager, ours ? type : shared(type), baseShape, tame);
            return new Made(base, view.apply(base));
        }

        @Override
        public String toString() {
            return type + " " + kind + (tame ? " tame" : "");
        }
    }

    static DataType shared(DataType type) {
        return CARRIERS.getOrDefault(type, type);
    }

    static NDArray create(NDManager manager, DataType type, Shape shape, boolean tame) {
        int count = (int) shape.size();
        int width = type.getNumOfBytes();
        ByteBuffer values = ByteBuffer.allocate(count * width).order(ByteOrder.nativeOrder());
        for (int i = 0; i < count; i++) {
            double fraction = tame ? i * i + 1 : FRACTIONS[i % FRACTIONS.length];
            long whole = tame ? i * i + 1 : WHOLE[i % WHOLE.length];
            switch (type) {
                case FLOAT32 -> values.putFloat((float) fraction);
                case FLOAT64 -> values.putDouble(fraction);
                case BOOLEAN -> values.put((byte) (i % 3 == 1 ? 0 : 1));
                default -> {
                    switch (width) {
                        case 1 -> values.put((byte) whole);
                        case 2 -> values.putShort((short) (tame ? 0x3c00 + 64 * i : whole));
                        case 4 -> values.putInt((int) whole);
                        default -> values.putLong(whole);
                    }
                }
            }
        }
        return manager.create(values.rewind(), shape, type);
    }

    /** Returns samples of one type. */
    static List<Sample> of(DataType type) {
        List<Sample> samples = new ArrayList<>();
        for (long[] dimensions : new long[][] {{3, 3}, {2, 3}, {5}}) {
            Shape shape = new Shape(dimensions);
            samples.add(new Sample("" + shape, type, shape, shape, true, a -> a));
        }
        long[][] shapes = {{2, 3, 2}, {2, 3}, {5}, {1}, {}, {0}, {2, 0}};
        for (long[] dimensions : shapes) {
            Shape shape = new Shape(dimensions);
            samples.add(new Sample("" + shape, type, shape, shape, false, a -> a));
        }
        view(samples, "part", type, new Shape(3), new Shape(5), a -> a.get("1:4"));
        view(samples, "columns", type, new Shape(3, 2), new Shape(3, 4), a -> a.get(":, 1:3"));
        view(samples, "steps", type, new Shape(3), new Shape(5), a -> a.get("::2"));
        view(samples, "transposed", type, new Shape(3, 2), new Shape(2, 3), NDArray::transpose);
        view(samples, "picked", type, new Shape(2), new Shape(3, 2), a -> a.get(1));
        view(samples, "broadcast", type, new Shape(2, 3), new Shape(1, 3), a -> a.broadcast(2, 3));
        return samples;
    }

    private static void view(
            List<Sample> samples,
            String kind,
            DataType type,
            Shape shape,
            Shape base,
            UnaryOperator<NDArray> view) {
        samples.add(new Sample(kind, type, shape, base, false, view));
    }

    /** Returns zeros and ones, for indices. */
    static NDArray places(NDManager manager, DataType type, Shape shape) {
        long[] places =
                IntStream.range(0, (int) shape.size()).mapToLong(i -> (i + 1) % 2).toArray();
        NDArray array = manager.create(places, shape);
        return type == DataType.INT64 ? array : array.toType(type, false);
    }
}
