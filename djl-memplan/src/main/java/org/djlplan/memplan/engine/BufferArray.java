package org.djlplan.memplan.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import com.google.common.primitives.Ints;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * An array over a buffer, in row-major order. What only moves or converts elements it does itself;
 * arrays of another shape with as many elements share the buffer.
 *
 * <p>The memory is the garbage collector's or that of a direct buffer that a user gave: never freed
 * under somebody who still has a view of it. Closing lets go of it.
 */
final class BufferArray extends ArithmeticArray {

    private ByteBuffer data;

    /**
     * @param data from its position to its limit; not copied
     */
    BufferArray(BufferManager manager, ByteBuffer data, Shape shape, DataType dataType) {
        super(manager, shape, dataType);
        this.data = data;
        manager.attachInternal(uid, this);
    }

    private BufferManager buffers() {
        return manager instanceof BufferManager own ? own : BufferManager.system();
    }

    /** Returns a view of the buffer, from its first element to its last. */
    private ByteBuffer values() {
        ByteBuffer current = data;
        if (isClosed || current == null) {
            throw new IllegalStateException("the array is closed");
        }
        return current.slice().order(ByteOrder.nativeOrder());
    }

    @Override
    Elements elements() {
        return new Elements(values(), dataType);
    }

    @Override
    BufferArray empty(Shape wanted, DataType type) {
        return (BufferArray) buffers().zeros(wanted, type);
    }

    /** Returns the buffer itself; of strings, as the engine's tensors hold them, to read only. */
    @Override
    public ByteBuffer toByteBuffer() {
        return getDataType() == DataType.STRING
                ? values().asReadOnlyBuffer().order(ByteOrder.nativeOrder())
                : values();
    }

    /**
     * As {@link #toByteBuffer()}, in the words of newer versions of DJL.
     *
     * @param tryDirect without effect: the buffer is the array's own
     */
    @SuppressWarnings(
            "MissingOverride") // there is no such method in the DJL that this is compiled with
    public ByteBuffer toByteBuffer(boolean tryDirect) {
        return toByteBuffer();
    }

    @Override
    public void attach(NDManager other) {
        detach();
        manager = other;
        other.attachInternal(getUid(), this);
        follow(other);
    }

    @Override
    public void tempAttach(NDManager other) {
        super.tempAttach(other);
        follow(other);
    }

    @Override
    public void detach() {
        manager.detachInternal(getUid());
        manager = BufferManager.system();
    }

    @Override
    public void intern(NDArray replaced) {
        BufferArray other = (BufferArray) buffers().from(replaced);
        data = other.values();
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

    /** Strings never change: then the copy shares them. */
    @Override
    public NDArray duplicate() {
        if (getDataType() == DataType.STRING) {
            return reshape(getShape());
        }
        return strided(StridedView.of(getShape()));
    }

    /** Returns a copy of the elements that a view of this array tells. */
    BufferArray strided(StridedView view) {
        BufferArray copy = empty(view.djlShape(), dataType);
        StridedView.copy(
                values(),
                view,
                copy.values(),
                StridedView.of(copy.shape),
                dataType.getNumOfBytes());
        return copy;
    }

    /** Sets the elements that a view of this array tells, to those of an array broadcast to it. */
    void assign(StridedView view, NDArray value) {
        BufferManager.requireElements(getDataType());
        BufferArray source = (BufferArray) buffers().from(value).toType(dataType, false);
        StridedView.copy(
                source.values(),
                StridedView.of(source.shape).broadcast(view.shape()),
                values(),
                view,
                dataType.getNumOfBytes());
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
        if (open >= 0) {
            dimensions[open] = known == 0 ? 0 : getShape().size() / known;
            known *= dimensions[open];
        }
        if (known != getShape().size()) {
            throw new IllegalArgumentException("an array of shape " + shape + " as " + wanted);
        }
        return new BufferArray(buffers(), values(), new Shape(dimensions), dataType);
    }

    @Override
    public NDArray flatten() {
        return reshape(new Shape(-1));
    }

    @Override
    public NDArray flatten(int startDim, int endDim) {
        int start = axis(startDim, getShape().dimension());
        int end = axis(endDim, shape.dimension());
        return reshape(
                shape.slice(0, start)
                        .add(shape.slice(start, end + 1).size())
                        .addAll(shape.slice(end + 1)));
    }

    @Override
    public NDArray expandDims(int axis) {
        int at = axis(axis, getShape().dimension() + 1);
        return reshape(shape.slice(0, at).add(1).addAll(shape.slice(at)));
    }

    @Override
    public NDArray squeeze(int[] axes) {
        int rank = getShape().dimension();
        List<Integer> gone = Ints.asList(Arrays.stream(axes).map(a -> axis(a, rank)).toArray());
        long[] left =
                IntStream.range(0, rank)
                        .filter(i -> shape.get(i) != 1 || !gone.contains(i))
                        .mapToLong(shape::get)
                        .toArray();
        return reshape(new Shape(left));
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
        return strided(StridedView.of(shape).transposed(order));
    }

    @Override
    public NDArray flip(int... axes) {
        StridedView view = StridedView.of(getShape());
        for (int given : axes) {
            int axis = axis(given, shape.dimension());
            int length = view.shape()[axis];
            view = view.sliced(axis, length - 1, -1, length);
        }
        return strided(view);
    }

    @Override
    public NDArray broadcast(Shape wanted) {
        return strided(StridedView.of(getShape()).broadcast(StridedView.of(wanted).shape()));
    }

    @Override
    public NDList split(long sections, int axis) {
        long length = getShape().get(axis(axis, shape.dimension()));
        if (sections <= 0 || length % sections != 0) {
            if (!alone()) {
                return super.split(sections, axis);
            }
            throw new IllegalArgumentException(length + " in " + sections + " equal parts");
        }
        long part = length / sections;
        return split(IntStream.range(1, (int) sections).mapToLong(i -> i * part).toArray(), axis);
    }

    @Override
    public NDList split(long[] indices, int axis) {
        int along = axis(axis, getShape().dimension());
        StridedView all = StridedView.of(shape);
        NDList parts = new NDList(indices.length + 1);
        int start = 0;
        for (int i = 0; i <= indices.length; i++) {
            int end = i < indices.length ? (int) indices[i] : all.shape()[along];
            parts.add(strided(all.sliced(along, start, 1, end - start)));
            start = end;
        }
        return parts;
    }

    /** Returns this array and others, one after the other along an axis. */
    NDArray concatenated(NDList others, int axis) {
        int along = axis(axis, getShape().dimension());
        long[] dimensions = shape.getShape().clone();
        for (NDArray other : others) {
            dimensions[along] += other.getShape().get(along);
        }
        BufferArray all = empty(new Shape(dimensions), dataType);
        StridedView whole = StridedView.of(all.shape);
        int start = 0;
        for (NDArray part : new NDList(this).addAll(others)) {
            int length = (int) part.getShape().get(along);
            StridedView place = whole.sliced(along, start, 1, length);
            if (!place.djlShape().equals(part.getShape())) {
                throw new IllegalArgumentException(shape + " and " + part.getShape() + " joined");
            }
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
        NDArray given = buffers().create(buffer, getShape(), dataType);
        assign(StridedView.of(shape), given);
        given.close();
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
        set(index, function.apply(get(index)));
    }

    @Override
    public void setScalar(NDIndex index, Number value) {
        indexer().setScalar(this, index, value);
    }

    private BufferIndexer indexer() {
        return new BufferIndexer(buffers());
    }

    @Override
    public void copyTo(NDArray array) {
        array.set(values());
    }

    /** Returns the rest of what arrays do; the alternative engine's, where there is one. */
    @Override
    public NDArrayEx getNDArrayInternal() {
        return ArrayFunctions.of(this, buffers());
    }

    /** Returns what the other engine has, if there is one. */
    Optional<NDArrayEx> functionsElsewhere() {
        return alone() ? Optional.empty() : Optional.of(super.getNDArrayInternal());
    }
}
