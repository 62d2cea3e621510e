package org.djlplan.memplan.internal.engine;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * An array over a buffer. It moves and converts elements itself; slices, reshaped and permuted
 * arrays are views that share the buffer, as in PyTorch.
 *
 * <p>Its memory belongs to the garbage collector or to a direct buffer of the user, so it is never
 * freed while a view exists. Closing releases the reference to it.
 */
final class BufferArray extends ArithmeticArray {

    private ByteBuffer data;
    private StridedView view;

    /**
     * @param data from its position to its limit, in row-major order; not copied
     */
    BufferArray(BufferManager manager, ByteBuffer data, Shape shape, DataType dataType) {
        this(manager, data.slice().order(ByteOrder.nativeOrder()), StridedView.of(shape), dataType);
    }

    private BufferArray(
            BufferManager manager, ByteBuffer data, StridedView view, DataType dataType) {
        super(manager, view.djlShape(), dataType);
        this.data = data;
        this.view = view;
        manager.attachInternal(uid, this);
        NDScope.register(this);
    }

    private BufferManager buffers() {
        return manager instanceof BufferManager own ? own : BufferManager.system();
    }

    /** Returns the view that selects this array's elements from the buffer. */
    StridedView view() {
        return view;
    }

    private ByteBuffer data() {
        ByteBuffer current = data;
        if (current == null) {
            throw new IllegalStateException("the array is closed");
        }
        return current;
    }

    /** Returns the elements in row-major order: the buffer itself, or a copy for a view. */
    private ByteBuffer values() {
        if (getDataType() == DataType.STRING) {
            return data().slice().order(ByteOrder.nativeOrder());
        }
        if (view.isContiguous()) {
            int width = dataType.getNumOfBytes();
            int first = view.size() == 0 ? 0 : view.offset();
            return data().slice(first * width, view.size() * width).order(ByteOrder.nativeOrder());
        }
        return copied(view);
    }

    @Override
    Elements elements() {
        return new Elements(values(), dataType);
    }

    @Override
    BufferArray empty(Shape wanted, DataType type) {
        return (BufferArray) buffers().zeros(wanted, type);
    }

    /**
     * Returns the buffer itself, or a copy for a view that is not contiguous; for strings a
     * read-only buffer in the engine's format.
     */
    @Override
    public ByteBuffer toByteBuffer() {
        return getDataType() == DataType.STRING
                ? values().asReadOnlyBuffer().order(ByteOrder.nativeOrder())
                : values();
    }

    /**
     * The same as {@link #toByteBuffer()} in newer versions of DJL.
     *
     * @param tryDirect ignored, because the buffer is the array's own
     */
    @SuppressWarnings("MissingOverride") // the DJL version used for compiling has no such method
    public ByteBuffer toByteBuffer(boolean tryDirect) {
        return toByteBuffer();
    }

    @Override
    public void attach(NDManager other) {
        detach();
        manager = other;
        other.attachInternal(getUid(), this);
    }

    @Override
    public void detach() {
        manager.detachInternal(getUid());
        manager = BufferManager.system();
    }

    @Override
    public void intern(NDArray replaced) {
        BufferArray other = (BufferArray) buffers().from(replaced);
        data = other.data();
        view = other.view;
        shape = other.shape;
        dataType = other.dataType;
        other.close();
    }

    @Override
    public void close() {
        super.close();
        data = null;
    }

    @Override
    public String[] toStringArray(Charset charset) {
        if (getDataType() != DataType.STRING) {
            throw new UnsupportedOperationException("no strings: " + getDataType());
        }
        return Strings.unpack(values(), charset);
    }

    /** Strings are immutable, so the copy shares them. */
    @Override
    public NDArray duplicate() {
        NDArray copy = getDataType() == DataType.STRING ? reshape(shape) : packed(view);
        copy.setName(name);
        return copy;
    }

    private BufferArray packed(StridedView elements) {
        return new BufferArray(buffers(), copied(elements), elements.djlShape(), dataType);
    }

    private ByteBuffer copied(StridedView elements) {
        int width = dataType.getNumOfBytes();
        ByteBuffer copy = BufferManager.heap(elements.size() * width);
        StridedView.copy(data(), elements, copy, StridedView.of(elements.djlShape()), width);
        return copy;
    }

    /**
     * Returns an array of selected elements, which shares the buffer.
     *
     * @throws UnsupportedOperationException if the elements are strings
     */
    BufferArray viewed(StridedView elements) {
        BufferManager.requireElements(getDataType());
        return new BufferArray(buffers(), data(), elements, dataType);
    }

    @Override
    void assign(NDArray value) {
        assign(view, value);
    }

    /**
     * Sets elements to the broadcast and converted elements of an array.
     *
     * @throws UnsupportedOperationException if an element would be set more than once
     */
    @SuppressWarnings("ReferenceEquality") // of buffers: the same memory
    void assign(StridedView elements, NDArray value) {
        BufferManager.requireElements(getDataType());
        if (elements.repeats()) {
            throw new UnsupportedOperationException(
                    "a broadcast array shares elements, which cannot be set: duplicate() it");
        }
        NDArray own = buffers().from(value);
        BufferArray source = (BufferArray) own.toType(dataType, false);
        try {
            boolean overlaps = source.data() == data();
            StridedView given = overlaps ? StridedView.of(source.shape) : source.view;
            while (given.shape().length > elements.shape().length && given.shape()[0] == 1) {
                given = given.picked(0, 0);
            }
            StridedView.copy(
                    overlaps ? source.copied(source.view) : source.data(),
                    given.broadcast(elements.shape()),
                    data(),
                    elements,
                    dataType.getNumOfBytes());
        } finally {
            closeCopy(source, own);
            closeCopy(own, value);
        }
    }

    @Override
    public NDArray toType(DataType wanted, boolean copy) {
        if (wanted == getDataType()) {
            return copy ? duplicate() : this;
        }
        BufferArray converted = empty(shape, wanted);
        converted.elements().setAll(elements());
        return converted;
    }

    @Override
    public NDArray reshape(Shape wanted) {
        long[] dimensions = wanted.getShape().clone();
        int open = -1;
        long known = 1;
        for (int i = 0; i < dimensions.length; i++) {
            if (dimensions[i] < 0) {
                if (open >= 0) {
                    throw new IllegalArgumentException("two open dimensions: " + wanted);
                }
                open = i;
            } else {
                known = Math.multiplyExact(known, dimensions[i]);
            }
        }
        if (open >= 0 && known > 0) {
            dimensions[open] = getShape().size() / known;
            known *= dimensions[open];
            open = -1;
        }
        if (open >= 0 || known != getShape().size()) {
            throw new IllegalArgumentException("an array of shape " + shape + " as " + wanted);
        }
        Shape found = new Shape(dimensions);
        return view.reshaped(found)
                .map(same -> new BufferArray(buffers(), data(), same, dataType))
                .orElseGet(() -> new BufferArray(buffers(), copied(view), found, dataType));
    }

    @Override
    public NDArray flatten() {
        return reshape(new Shape(-1));
    }

    @Override
    public NDArray flatten(int startDim, int endDim) {
        int rank = Math.max(1, getShape().dimension());
        int start = axis(startDim, rank);
        int end = axis(endDim, rank);
        checkArgument(start <= end, "axes %s to %s", startDim, endDim);
        if (shape.isScalar()) {
            return flatten();
        }
        return reshape(
                shape.slice(0, start)
                        .add(shape.slice(start, end + 1).size())
                        .addAll(shape.slice(end + 1)));
    }

    @Override
    public NDArray expandDims(int axis) {
        return new BufferArray(
                buffers(), data(), view.expanded(axis(axis, getShape().dimension() + 1)), dataType);
    }

    /** Returns the array without an axis, or, as in PyTorch, unchanged if its length is not 1. */
    @Override
    public NDArray squeeze(int axis) {
        return getShape().get(axis(axis, shape.dimension())) == 1
                ? squeeze(new int[] {axis})
                : viewed(view);
    }

    @Override
    public NDArray squeeze(int[] axes) {
        StridedView squeezed = view;
        int[] last =
                Arrays.stream(axes)
                        .map(a -> -axis(a, getShape().dimension()))
                        .distinct()
                        .sorted()
                        .map(a -> -a)
                        .toArray();
        for (int axis : last) {
            checkArgument(
                    shape.get(axis) == 1, "axis %s of shape %s has no length of 1", axis, shape);
            squeezed = squeezed.picked(axis, 0);
        }
        return new BufferArray(buffers(), data(), squeezed, dataType);
    }

    @Override
    public NDArray transpose() {
        int rank = getShape().dimension();
        return transpose(IntStream.range(0, rank).map(i -> rank - 1 - i).toArray());
    }

    @Override
    public NDArray transpose(int... axes) {
        int rank = getShape().dimension();
        int[] order = Arrays.stream(axes).map(a -> axis(a, rank)).toArray();
        if (order.length != rank || Arrays.stream(order).distinct().count() != rank) {
            throw new IllegalArgumentException(
                    "axes " + Arrays.toString(axes) + " of an array of shape " + shape);
        }
        return viewed(view.transposed(order));
    }

    @Override
    public NDArray swapAxes(int axis1, int axis2) {
        int[] order = IntStream.range(0, getShape().dimension()).toArray();
        int one = axis(axis1, order.length);
        int other = axis(axis2, order.length);
        order[one] = other;
        order[other] = one;
        return transpose(order);
    }

    /** Returns a copy, as in PyTorch. */
    @Override
    public NDArray flip(int... axes) {
        BufferManager.requireElements(getDataType());
        StridedView flipped = view;
        int[] order = Arrays.stream(axes).map(a -> axis(a, shape.dimension())).distinct().toArray();
        checkArgument(order.length == axes.length, "an axis twice: %s", Arrays.toString(axes));
        for (int axis : order) {
            int length = flipped.shape()[axis];
            flipped = flipped.sliced(axis, Math.max(0, length - 1), -1, length);
        }
        return packed(flipped);
    }

    @Override
    public NDArray broadcast(Shape wanted) {
        return viewed(view.broadcast(StridedView.of(wanted).shape()));
    }

    @Override
    public NDList split(long sections, int axis) {
        long length = getShape().get(axis(axis, shape.dimension()));
        checkArgument(
                sections > 0 && length % sections == 0, "%s in %s equal parts", length, sections);
        long part = length / sections;
        return split(IntStream.range(1, (int) sections).mapToLong(i -> i * part).toArray(), axis);
    }

    @Override
    public NDList split(long[] indices, int axis) {
        int along = axis(axis, getShape().dimension());
        int length = view.shape()[along];
        NDList parts = new NDList(indices.length + 1);
        int start = 0;
        for (int i = 0; i <= indices.length; i++) {
            long end = i < indices.length ? indices[i] : length;
            checkArgument(
                    end >= start && end <= length, "%s at %s", length, Arrays.toString(indices));
            parts.add(viewed(view.sliced(along, start, 1, (int) end - start)));
            start = (int) end;
        }
        return parts;
    }

    /**
     * Returns this array and others concatenated along an axis, in a type that can represent the
     * numbers of all.
     */
    NDArray concatenated(NDList others, int axis) {
        int along = axis(axis, getShape().dimension());
        long[] dimensions = shape.getShape().clone();
        DataType type = dataType;
        for (NDArray other : others) {
            checkArgument(
                    other.getShape().dimension() == dimensions.length,
                    "%s and %s joined",
                    shape,
                    other.getShape());
            dimensions[along] += other.getShape().get(along);
            type = ElementTypes.promoted(type, other.getDataType());
        }
        BufferArray all = empty(new Shape(dimensions), type);
        int start = 0;
        for (NDArray part : new NDList(this).addAll(others)) {
            int length = (int) part.getShape().get(along);
            StridedView place = all.view.sliced(along, start, 1, length);
            checkArgument(
                    place.djlShape().equals(part.getShape()),
                    "%s and %s joined",
                    shape,
                    part.getShape());
            all.assign(place, part);
            start += length;
        }
        return all;
    }

    @Override
    public NDArray get(NDIndex index) {
        return get(buffers(), index);
    }

    @Override
    public void set(Buffer buffer) {
        try (NDArray given = buffers().create(buffer, getShape(), dataType)) {
            assign(given);
        }
    }

    @Override
    public void set(NDIndex index, NDArray value) {
        indexer().set(this, index, value);
    }

    @Override
    public void set(NDIndex index, Number value) {
        indexer().set(this, index, value);
    }

    @Override
    public void set(NDIndex index, Function<NDArray, NDArray> function) {
        try (NDArray part = get(index)) {
            set(index, function.apply(part));
        }
    }

    @Override
    public void set(NDArray index, Number value) {
        set(new NDIndex("{}", index), value);
    }

    @Override
    public void setScalar(NDIndex index, Number value) {
        indexer().setScalar(this, index, value);
    }

    private BufferIndexer indexer() {
        return new BufferIndexer(buffers());
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if the other array has another shape or type
     */
    @Override
    public void copyTo(NDArray array) {
        checkArgument(
                array.getShape().equals(getShape()) && array.getDataType() == dataType,
                "an array of %s and shape %s into one of %s and shape %s",
                dataType,
                shape,
                array.getDataType(),
                array.getShape());
        array.set(values());
    }

    /**
     * Returns whether this is a scalar equal to a number, of the type that DJL assigns to the
     * number.
     */
    @Override
    public boolean contentEquals(Number number) {
        try (NDArray scalar = buffers().create(number)) {
            return contentEquals(scalar);
        }
    }

    /** Returns whether shape, type and all elements are equal; NaN is not equal to anything. */
    @Override
    public boolean contentEquals(NDArray other) {
        if (other == null
                || !other.getShape().equals(getShape())
                || other.getDataType() != dataType) {
            return false;
        }
        NDArray own = buffers().from(other);
        try {
            if (ElementTypes.isWhole(dataType)) {
                return toByteBuffer().equals(own.toByteBuffer());
            }
            Elements one = elements();
            Elements two = ((BufferArray) own).elements();
            return IntStream.range(0, one.count()).allMatch(i -> one.get(i) == two.get(i));
        } finally {
            closeCopy(own, other);
        }
    }

    @Override
    public NDArray oneHot(int depth) {
        return oneHot(depth, DataType.FLOAT32);
    }

    @Override
    public NDArray oneHot(int depth, DataType type) {
        return OtherEngine.later(this).oneHot(depth, type);
    }

    /** Returns the internal functions of arrays; the alternative engine's, if there is one. */
    @Override
    public NDArrayEx getNDArrayInternal() {
        return ArrayFunctions.of(this, buffers());
    }
}
