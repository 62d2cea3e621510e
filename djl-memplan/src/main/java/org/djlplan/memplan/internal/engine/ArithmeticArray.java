package org.djlplan.memplan.internal.engine;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrayAdapter;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongBinaryOperator;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * The arithmetic of arrays over buffers, computed by another engine if there is one. Without one it
 * supports the operations that translators for images and text need, on 32- and 64-bit numbers and
 * 8-bit integers. Types and values are those of PyTorch, except for the last digits of sums and
 * powers of e.
 */
abstract class ArithmeticArray extends NDArrayAdapter {

    private static final AtomicLong COUNT = new AtomicLong();

    ArithmeticArray(BufferManager manager, Shape shape, DataType dataType) {
        super(manager, BufferManager.later(), shape, dataType, "buffer-" + COUNT.incrementAndGet());
    }

    /** Returns the elements as numbers: this array's own elements, or a copy. */
    abstract Elements elements();

    /** Returns an array of zeros with the same manager. */
    abstract BufferArray empty(Shape wanted, DataType type);

    /** Sets all elements to those of an array broadcast to this one's shape. */
    abstract void assign(NDArray value);

    /** Returns a manager of the engine for operations that this engine's arrays do not support. */
    final Optional<NDManager> elsewhere() {
        return manager instanceof BufferManager own ? own.alternative() : Optional.of(manager);
    }

    /** Returns whether there is no other engine; if there is one, it is loaded. */
    final boolean alone() {
        return elsewhere().isEmpty();
    }

    /**
     * Returns the non-negative index of an axis.
     *
     * @throws IllegalArgumentException if there is no such axis
     */
    static int axis(int axis, int rank) {
        int front = axis < 0 ? axis + rank : axis;
        if (front < 0 || front >= rank) {
            throw new IllegalArgumentException("axis " + axis + " of " + rank);
        }
        return front;
    }

    /** Returns a type if it is supported without another engine. */
    private static DataType computed(DataType type) {
        return switch (type) {
            case FLOAT32, FLOAT64, INT8, UINT8, INT32, INT64 -> type;
            case FLOAT16, BOOLEAN -> throw OtherEngine.missing("arithmetic of type " + type);
            default -> OtherEngine.require(type);
        };
    }

    private static boolean isFraction(DataType type) {
        return !ElementTypes.isWhole(computed(type));
    }

    /** Returns the type of floating-point results. */
    private static DataType fraction(DataType type) {
        return isFraction(type) ? type : DataType.FLOAT32;
    }

    private DataType joined(NDArray other) {
        computed(getDataType());
        computed(other.getDataType());
        return computed(
                ElementTypes.promoted(dataType, shape, other.getDataType(), other.getShape()));
    }

    private NDArray with(
            NDArray other, DataType type, DoubleBinaryOperator f, LongBinaryOperator whole) {
        Shape wanted = common(getShape(), other.getShape());
        Elements first = operand(this, type, wanted);
        Elements second = operand(other, type, wanted);
        BufferArray result = empty(wanted, type);
        Elements to = result.elements();
        for (int i = 0; i < to.count(); i++) {
            if (isFraction(type)) {
                to.set(i, f.applyAsDouble(first.get(i), second.get(i)));
            } else {
                to.setLong(i, whole.applyAsLong(first.getLong(i), second.getLong(i)));
            }
        }
        return result;
    }

    private NDArray with(Number n, UnaryOperator<NDArray> f) {
        try (NDArray scalar = manager.create(n)) {
            return f.apply(scalar);
        }
    }

    /** Returns the elements of any array, converted and broadcast. */
    private Elements operand(NDArray given, DataType type, Shape wanted) {
        NDArray own = manager.from(given);
        NDArray converted = own.toType(type, false);
        try (NDArray view = converted.broadcast(wanted)) {
            return ((ArithmeticArray) view).elements();
        } finally {
            closeCopy(converted, own);
            closeCopy(own, given);
        }
    }

    /** Closes what was made of an array, unless it is the array itself. */
    @SuppressWarnings("ReferenceEquality") // an equal one is a copy
    static void closeCopy(NDArray made, NDArray of) {
        if (made != of) {
            made.close();
        }
    }

    private static Shape common(Shape one, Shape other) {
        int rank = Math.max(one.dimension(), other.dimension());
        long[] dimensions = new long[rank];
        for (int i = 0; i < rank; i++) {
            int first = i - rank + one.dimension();
            int second = i - rank + other.dimension();
            long a = first < 0 ? 1 : one.get(first);
            long b = second < 0 ? 1 : other.get(second);
            dimensions[i] = a == 1 ? b : a;
        }
        return new Shape(dimensions);
    }

    private NDArray each(DataType type, DoubleUnaryOperator f) {
        Elements from = operand(this, type, getShape());
        BufferArray result = empty(shape, type);
        Elements to = result.elements();
        for (int i = 0; i < from.count(); i++) {
            to.set(i, f.applyAsDouble(from.get(i)));
        }
        return result;
    }

    @Override
    public NDArray add(Number n) {
        return alone() ? with(n, this::add) : super.add(n);
    }

    @Override
    public NDArray add(NDArray other) {
        return alone() ? with(other, joined(other), Double::sum, Long::sum) : super.add(other);
    }

    @Override
    public NDArray sub(Number n) {
        return alone() ? with(n, this::sub) : super.sub(n);
    }

    @Override
    public NDArray sub(NDArray other) {
        return alone()
                ? with(other, joined(other), (a, b) -> a - b, (a, b) -> a - b)
                : super.sub(other);
    }

    @Override
    public NDArray mul(Number n) {
        return alone() ? with(n, this::mul) : super.mul(n);
    }

    @Override
    public NDArray mul(NDArray other) {
        return alone()
                ? with(other, joined(other), (a, b) -> a * b, (a, b) -> a * b)
                : super.mul(other);
    }

    @Override
    public NDArray div(Number n) {
        return alone() ? with(n, this::div) : super.div(n);
    }

    @Override
    public NDArray div(NDArray other) {
        return alone()
                ? with(other, fraction(joined(other)), (a, b) -> a / b, null)
                : super.div(other);
    }

    @Override
    public NDArray addi(Number n) {
        return become(add(n));
    }

    @Override
    public NDArray addi(NDArray other) {
        return become(add(other));
    }

    @Override
    public NDArray subi(Number n) {
        return become(sub(n));
    }

    @Override
    public NDArray subi(NDArray other) {
        return become(sub(other));
    }

    @Override
    public NDArray muli(Number n) {
        return become(mul(n));
    }

    @Override
    public NDArray muli(NDArray other) {
        return become(mul(other));
    }

    @Override
    public NDArray divi(Number n) {
        return become(div(n));
    }

    @Override
    public NDArray divi(NDArray other) {
        return become(div(other));
    }

    /**
     * Sets the elements to those of a result, converted to this array's type.
     *
     * @throws IllegalArgumentException if the result has another shape, or is floating-point and
     *     this array is not
     */
    private NDArray become(NDArray result) {
        try (result) {
            checkArgument(
                    result.getShape().equals(getShape())
                            && ElementTypes.category(result.getDataType())
                                    <= ElementTypes.category(dataType),
                    "a result of type %s and shape %s in an array of type %s and shape %s",
                    result.getDataType(),
                    result.getShape(),
                    dataType,
                    shape);
            assign(result);
        }
        return this;
    }

    @Override
    public NDArray clip(Number min, Number max) {
        if (!alone()) {
            return super.clip(min, max);
        }
        if (!isFraction(getDataType())) {
            throw OtherEngine.missing("NDArray.clip of whole numbers");
        }
        try (BufferArray both = empty(new Shape(2), dataType)) {
            Elements ends = both.elements();
            ends.set(0, min.doubleValue());
            ends.set(1, max.doubleValue());
            return each(dataType, value -> Math.min(ends.get(1), Math.max(ends.get(0), value)));
        }
    }

    @Override
    public NDArray sqrt() {
        return alone() ? each(fraction(getDataType()), Math::sqrt) : super.sqrt();
    }

    @Override
    public NDArray exp() {
        return alone() ? each(fraction(getDataType()), Math::exp) : super.exp();
    }

    /** Reduces the elements along axes. */
    private NDArray reduce(
            int[] axes,
            boolean keepDims,
            DataType type,
            DoubleBinaryOperator f,
            LongBinaryOperator whole) {
        int rank = getShape().dimension();
        int[] gone = Arrays.stream(axes).map(a -> axis(a, rank)).sorted().distinct().toArray();
        checkArgument(gone.length == axes.length, "an axis twice: %s", Arrays.toString(axes));
        int[] kept =
                IntStream.range(0, rank).filter(i -> Arrays.binarySearch(gone, i) < 0).toArray();
        int[] order = IntStream.concat(Arrays.stream(kept), Arrays.stream(gone)).toArray();
        Elements from;
        try (NDArray ordered = transpose(order)) {
            from = operand(ordered, type, ordered.getShape());
        }
        BufferArray result =
                empty(new Shape(Arrays.stream(kept).mapToLong(shape::get).toArray()), type);
        Elements to = result.elements();
        int each = to.count() == 0 ? 0 : from.count() / to.count();
        for (int i = 0; i < to.count() && each > 0; i++) {
            int first = i * each;
            if (isFraction(type)) {
                to.set(
                        i,
                        IntStream.range(first, first + each)
                                .mapToDouble(from::get)
                                .reduce(f)
                                .orElseThrow());
            } else {
                to.setLong(
                        i,
                        IntStream.range(first, first + each)
                                .mapToLong(from::getLong)
                                .reduce(whole)
                                .orElseThrow());
            }
        }
        if (!keepDims) {
            return result;
        }
        long[] all = shape.getShape().clone();
        Arrays.stream(gone).forEach(i -> all[i] = 1);
        try (result) {
            return result.reshape(new Shape(all));
        }
    }

    private int[] allAxes() {
        return IntStream.range(0, getShape().dimension()).toArray();
    }

    @Override
    public NDArray sum() {
        return alone() ? sum(allAxes(), false) : super.sum();
    }

    @Override
    public NDArray sum(int[] axes, boolean keepDims) {
        if (!alone()) {
            return super.sum(axes, keepDims);
        }
        boolean counted = getDataType() == DataType.BOOLEAN || !isFraction(dataType);
        DataType type = counted ? DataType.INT64 : dataType;
        return reduce(axes.length == 0 ? allAxes() : axes, keepDims, type, Double::sum, Long::sum);
    }

    @Override
    public NDArray max() {
        return alone() ? max(allAxes(), false) : super.max();
    }

    @Override
    public NDArray max(int[] axes, boolean keepDims) {
        if (!alone()) {
            return super.max(axes, keepDims);
        }
        long[] lengths =
                Arrays.stream(axes).mapToLong(a -> shape.get(axis(a, shape.dimension()))).toArray();
        requireElements(axes.length > 0 || getShape().isScalar(), lengths);
        return reduce(axes, keepDims, computed(dataType), Math::max, Math::max);
    }

    private static void requireElements(boolean axes, long... lengths) {
        checkArgument(
                axes && Arrays.stream(lengths).allMatch(length -> length > 0),
                "there is no largest of no elements");
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException without another engine, if the elements are not
     *     floating-point numbers
     */
    @Override
    public NDArray softmax(int axis) {
        if (!alone()) {
            return super.softmax(axis);
        }
        checkArgument(isFraction(getDataType()), "softmax of %s", dataType);
        int[] along = {axis(axis, shape.dimension())};
        if (shape.size() == 0) {
            return duplicate();
        }
        try (NDArray largest = max(along, true);
                NDArray shifted = sub(largest)) {
            NDArray powers = shifted.exp();
            try (NDArray sums = powers.sum(along, true)) {
                return powers.divi(sums);
            }
        }
    }

    @Override
    public NDArray argMax() {
        if (!alone()) {
            return super.argMax();
        }
        try (NDArray flat = flatten()) {
            return flat.argMax(0);
        }
    }

    /**
     * Returns where along an axis the first of the largest elements is; NaN counts as the largest.
     */
    @Override
    public NDArray argMax(int axis) {
        if (!alone()) {
            return super.argMax(axis);
        }
        int along = axis(axis, getShape().dimension());
        int length = (int) shape.get(along);
        int inner = (int) shape.slice(along + 1).size();
        requireElements(true, length);
        boolean fraction = isFraction(dataType);
        BufferArray result =
                empty(shape.slice(0, along).addAll(shape.slice(along + 1)), DataType.INT64);
        Elements from = elements();
        Elements to = result.elements();
        for (int i = 0; i < to.count(); i++) {
            int first = i / inner * length * inner + i % inner;
            int best = 0;
            for (int j = 1; j < length; j++) {
                int one = first + best * inner;
                int other = first + j * inner;
                boolean larger =
                        fraction
                                ? !Double.isNaN(from.get(one))
                                        && !(from.get(other) <= from.get(one))
                                : from.getLong(other) > from.getLong(one);
                best = larger ? j : best;
            }
            to.setLong(i, best);
        }
        return result;
    }
}
