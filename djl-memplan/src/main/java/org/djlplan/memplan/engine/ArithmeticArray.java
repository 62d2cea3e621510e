package org.djlplan.memplan.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrayAdapter;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongBinaryOperator;
import java.util.stream.IntStream;

/**
 * The arithmetic of arrays over buffers: another engine's where there is one, else its own of what
 * translators of images, text and raw arrays ask for. As in PyTorch, whole numbers divided are
 * {@code float32}, and so are whole numbers joined with a number that has a fraction.
 */
abstract class ArithmeticArray extends NDArrayAdapter {

    private static final AtomicLong COUNT = new AtomicLong();

    ArithmeticArray(BufferManager manager, Shape shape, DataType dataType) {
        super(manager, BufferManager.later(), shape, dataType, "buffer-" + COUNT.incrementAndGet());
    }

    /** Returns the elements as numbers. */
    abstract Elements elements();

    /** Returns an array of zeros with the same manager. */
    abstract BufferArray empty(Shape wanted, DataType type);

    /** Takes the alternative of another manager. */
    final void follow(NDManager other) {
        alternativeManager = other instanceof BufferManager ? BufferManager.later() : other;
    }

    /** Returns the exception for what only other engines have. */
    static UnsupportedOperationException unsupported(String what) {
        return new UnsupportedOperationException(
                what + " needs another engine, such as PyTorch, on the class path");
    }

    /**
     * Returns an axis counted from the front.
     *
     * @throws IllegalArgumentException if there is none
     */
    static int axis(int axis, int rank) {
        int front = axis < 0 ? axis + rank : axis;
        if (front < 0 || front >= rank) {
            throw new IllegalArgumentException("axis " + axis + " of " + rank);
        }
        return front;
    }

    /** Returns whether there is no other engine; one that there is has been loaded then. */
    final boolean alone() {
        return manager instanceof BufferManager own
                && alternativeManager == BufferManager.later()
                && own.alternative().isEmpty();
    }

    private static boolean isWhole(Number n) {
        return !(n instanceof Float || n instanceof Double);
    }

    /** The type of numbers of two types joined. */
    private static DataType join(DataType one, DataType other) {
        if (one == other) {
            return one;
        }
        boolean whole = Elements.isWhole(one);
        if (whole != Elements.isWhole(other)) {
            return whole ? other : one;
        }
        int width = Math.max(one.getNumOfBytes(), other.getNumOfBytes());
        if (!whole) {
            return width == Double.BYTES ? DataType.FLOAT64 : DataType.FLOAT32;
        }
        return width == Long.BYTES ? DataType.INT64 : DataType.INT32;
    }

    private NDArray with(Number n, DoubleBinaryOperator f, LongBinaryOperator whole) {
        DataType type =
                isWhole(n) || !Elements.isWhole(getDataType()) ? dataType : DataType.FLOAT32;
        BufferArray result = empty(shape, type);
        with(result.elements(), n, Elements.isWhole(type), f, whole);
        return result;
    }

    private void with(
            Elements to,
            Number n,
            boolean exact,
            DoubleBinaryOperator f,
            LongBinaryOperator whole) {
        Elements from = elements();
        if (exact) {
            for (int i = 0; i < from.count(); i++) {
                to.setLong(i, whole.applyAsLong(from.getLong(i), n.longValue()));
            }
        } else {
            double second = n.doubleValue();
            for (int i = 0; i < from.count(); i++) {
                to.set(i, f.applyAsDouble(from.get(i), second));
            }
        }
    }

    private NDArray with(NDArray other, DoubleBinaryOperator f, LongBinaryOperator whole) {
        DataType type = join(getDataType(), other.getDataType());
        Shape wanted = common(shape, other.getShape());
        BufferArray result = empty(wanted, type);
        Elements to = result.elements();
        Elements from = elements(this, wanted);
        Elements second = elements(other, wanted);
        if (Elements.isWhole(type)) {
            for (int i = 0; i < to.count(); i++) {
                to.setLong(i, whole.applyAsLong(from.getLong(i), second.getLong(i)));
            }
        } else {
            for (int i = 0; i < to.count(); i++) {
                to.set(i, f.applyAsDouble(from.get(i), second.get(i)));
            }
        }
        return result;
    }

    private Elements elements(NDArray array, Shape wanted) {
        ArithmeticArray own =
                array instanceof ArithmeticArray arithmetic
                        ? arithmetic
                        : (ArithmeticArray) manager.from(array);
        return own.getShape().equals(wanted)
                ? own.elements()
                : ((ArithmeticArray) own.broadcast(wanted)).elements();
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

    private NDArray each(DoubleUnaryOperator f) {
        DataType type = Elements.isWhole(getDataType()) ? DataType.FLOAT32 : dataType;
        BufferArray result = empty(shape, type);
        Elements from = elements();
        Elements to = result.elements();
        for (int i = 0; i < from.count(); i++) {
            to.set(i, f.applyAsDouble(from.get(i)));
        }
        return result;
    }

    @Override
    public NDArray add(Number n) {
        return alone() ? with(n, Double::sum, Long::sum) : super.add(n);
    }

    @Override
    public NDArray add(NDArray other) {
        return alone() ? with(other, Double::sum, Long::sum) : super.add(other);
    }

    @Override
    public NDArray sub(Number n) {
        return alone() ? with(n, (a, b) -> a - b, (a, b) -> a - b) : super.sub(n);
    }

    @Override
    public NDArray sub(NDArray other) {
        return alone() ? with(other, (a, b) -> a - b, (a, b) -> a - b) : super.sub(other);
    }

    @Override
    public NDArray mul(Number n) {
        return alone() ? with(n, (a, b) -> a * b, (a, b) -> a * b) : super.mul(n);
    }

    @Override
    public NDArray mul(NDArray other) {
        return alone() ? with(other, (a, b) -> a * b, (a, b) -> a * b) : super.mul(other);
    }

    @Override
    public NDArray div(Number n) {
        return alone() ? with(n.doubleValue(), (a, b) -> a / b, null) : super.div(n);
    }

    @Override
    public NDArray div(NDArray other) {
        if (!alone()) {
            return super.div(other);
        }
        boolean whole = Elements.isWhole(join(getDataType(), other.getDataType()));
        NDArray divisor = whole ? manager.from(other).toType(DataType.FLOAT32, false) : other;
        return with(divisor, (a, b) -> a / b, null);
    }

    @Override
    public NDArray pow(Number n) {
        return alone()
                ? with(n, Math::pow, (a, b) -> (long) Math.pow((double) a, (double) b))
                : super.pow(n);
    }

    @Override
    public NDArray maximum(Number n) {
        return alone() ? with(n, Math::max, Math::max) : super.maximum(n);
    }

    @Override
    public NDArray minimum(Number n) {
        return alone() ? with(n, Math::min, Math::min) : super.minimum(n);
    }

    @Override
    public NDArray clip(Number min, Number max) {
        return alone() ? maximum(min).minimum(max) : super.clip(min, max);
    }

    @Override
    public NDArray addi(Number n) {
        with(elements(), n, Elements.isWhole(getDataType()), Double::sum, Long::sum);
        return this;
    }

    @Override
    public NDArray subi(Number n) {
        with(elements(), n, Elements.isWhole(getDataType()), (a, b) -> a - b, (a, b) -> a - b);
        return this;
    }

    @Override
    public NDArray muli(Number n) {
        with(elements(), n, Elements.isWhole(getDataType()), (a, b) -> a * b, (a, b) -> a * b);
        return this;
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if the array has whole numbers
     */
    @Override
    public NDArray divi(Number n) {
        requireFractions();
        with(elements(), n, false, (a, b) -> a / b, null);
        return this;
    }

    /** Sets the elements to those of a result, in this array's type. */
    private NDArray become(NDArray result) {
        if (!result.getShape().equals(getShape())) {
            throw new IllegalArgumentException(
                    "a result of shape " + result.getShape() + " in an array of shape " + shape);
        }
        elements().setAll(((ArithmeticArray) manager.from(result)).elements());
        result.close();
        return this;
    }

    @Override
    public NDArray addi(NDArray other) {
        return become(add(other));
    }

    @Override
    public NDArray subi(NDArray other) {
        return become(sub(other));
    }

    @Override
    public NDArray muli(NDArray other) {
        return become(mul(other));
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if the array has whole numbers
     */
    @Override
    public NDArray divi(NDArray other) {
        requireFractions();
        return become(div(other));
    }

    private void requireFractions() {
        if (Elements.isWhole(getDataType())) {
            throw new IllegalArgumentException("quotients are no " + dataType);
        }
    }

    @Override
    public NDArray neg() {
        return alone() ? mul(-1) : super.neg();
    }

    @Override
    public NDArray abs() {
        return alone() ? with(0, (a, b) -> Math.abs(a), (a, b) -> Math.abs(a)) : super.abs();
    }

    @Override
    public NDArray square() {
        return alone() ? with(0, (a, b) -> a * a, (a, b) -> a * a) : super.square();
    }

    @Override
    public NDArray sqrt() {
        return alone() ? each(Math::sqrt) : super.sqrt();
    }

    @Override
    public NDArray exp() {
        return alone() ? each(Math::exp) : super.exp();
    }

    @Override
    public NDArray log() {
        return alone() ? each(Math::log) : super.log();
    }

    /** Joins the elements along axes. */
    private NDArray reduce(
            int[] axes, boolean keepDims, double start, DataType type, DoubleBinaryOperator f) {
        int rank = getShape().dimension();
        int[] gone = Arrays.stream(axes).map(a -> axis(a, rank)).sorted().distinct().toArray();
        int[] kept =
                IntStream.range(0, rank).filter(i -> Arrays.binarySearch(gone, i) < 0).toArray();
        int[] order = IntStream.concat(Arrays.stream(kept), Arrays.stream(gone)).toArray();
        Elements from = ((ArithmeticArray) transpose(order)).elements();
        long[] dimensions = Arrays.stream(kept).mapToLong(shape::get).toArray();
        BufferArray result = empty(new Shape(dimensions), type);
        Elements to = result.elements();
        int each = to.count() == 0 ? 0 : from.count() / to.count();
        for (int i = 0; i < to.count(); i++) {
            double joined = start;
            for (int j = 0; j < each; j++) {
                joined = f.applyAsDouble(joined, from.get(i * each + j));
            }
            to.set(i, joined);
        }
        if (!keepDims) {
            return result;
        }
        long[] all = shape.getShape().clone();
        Arrays.stream(gone).forEach(i -> all[i] = 1);
        return result.reshape(new Shape(all));
    }

    private int[] allAxes() {
        return IntStream.range(0, getShape().dimension()).toArray();
    }

    private DataType sumType() {
        return Elements.isWhole(getDataType()) ? DataType.INT64 : dataType;
    }

    @Override
    public NDArray sum() {
        return alone() ? sum(allAxes(), false) : super.sum();
    }

    @Override
    public NDArray sum(int[] axes, boolean keepDims) {
        return alone()
                ? reduce(axes, keepDims, 0, sumType(), Double::sum)
                : super.sum(axes, keepDims);
    }

    @Override
    public NDArray mean() {
        return alone() ? mean(allAxes(), false) : super.mean();
    }

    @Override
    public NDArray mean(int[] axes, boolean keepDims) {
        if (!alone()) {
            return super.mean(axes, keepDims);
        }
        NDArray sum = sum(axes, keepDims);
        return sum.div((double) getShape().size() / Math.max(1, sum.size()));
    }

    @Override
    public NDArray max() {
        return alone() ? max(allAxes(), false) : super.max();
    }

    @Override
    public NDArray max(int[] axes, boolean keepDims) {
        return alone()
                ? reduce(axes, keepDims, Double.NEGATIVE_INFINITY, getDataType(), Math::max)
                : super.max(axes, keepDims);
    }

    @Override
    public NDArray min() {
        return alone() ? min(allAxes(), false) : super.min();
    }

    @Override
    public NDArray min(int[] axes, boolean keepDims) {
        return alone()
                ? reduce(axes, keepDims, Double.POSITIVE_INFINITY, getDataType(), Math::min)
                : super.min(axes, keepDims);
    }

    @Override
    public NDArray softmax(int axis) {
        if (!alone()) {
            return super.softmax(axis);
        }
        int[] along = {axis};
        NDArray powers = sub(max(along, true)).exp();
        return powers.div(powers.sum(along, true));
    }

    @Override
    public NDArray argMax() {
        return alone() ? flatten().argMax(0) : super.argMax();
    }

    @Override
    public NDArray argMax(int axis) {
        return alone() ? best(axis, 1) : super.argMax(axis);
    }

    @Override
    public NDArray argMin() {
        return alone() ? flatten().argMin(0) : super.argMin();
    }

    @Override
    public NDArray argMin(int axis) {
        return alone() ? best(axis, -1) : super.argMin(axis);
    }

    /** Where along an axis the first of the largest elements is, or of the smallest. */
    private NDArray best(int axis, int sign) {
        int along = axis(axis, getShape().dimension());
        int length = (int) shape.get(along);
        int inner = (int) shape.slice(along + 1).size();
        BufferArray result =
                empty(shape.slice(0, along).addAll(shape.slice(along + 1)), DataType.INT64);
        Elements from = elements();
        Elements to = result.elements();
        for (int i = 0; i < to.count(); i++) {
            int first = i / inner * length * inner + i % inner;
            int best = 0;
            for (int j = 1; j < length; j++) {
                if (sign * from.get(first + j * inner) > sign * from.get(first + best * inner)) {
                    best = j;
                }
            }
            to.setLong(i, best);
        }
        return result;
    }

    @Override
    public NDArray eq(Number n) {
        return alone() ? compared(n, (a, b) -> a == b ? 1 : 0) : super.eq(n);
    }

    @Override
    public NDArray neq(Number n) {
        return alone() ? compared(n, (a, b) -> a != b ? 1 : 0) : super.neq(n);
    }

    @Override
    public NDArray gt(Number n) {
        return alone() ? compared(n, (a, b) -> a > b ? 1 : 0) : super.gt(n);
    }

    @Override
    public NDArray gte(Number n) {
        return alone() ? compared(n, (a, b) -> a >= b ? 1 : 0) : super.gte(n);
    }

    @Override
    public NDArray lt(Number n) {
        return alone() ? compared(n, (a, b) -> a < b ? 1 : 0) : super.lt(n);
    }

    @Override
    public NDArray lte(Number n) {
        return alone() ? compared(n, (a, b) -> a <= b ? 1 : 0) : super.lte(n);
    }

    private NDArray compared(Number n, DoubleBinaryOperator f) {
        BufferArray result = empty(getShape(), DataType.BOOLEAN);
        with(result.elements(), n, false, f, null);
        return result;
    }
}
