package org.djlplan.memplan.internal.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.index.NDArrayIndexer;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.index.dim.NDIndexAll;
import ai.djl.ndarray.index.dim.NDIndexElement;
import ai.djl.ndarray.index.dim.NDIndexFixed;
import ai.djl.ndarray.index.dim.NDIndexNull;
import ai.djl.ndarray.index.dim.NDIndexSlice;
import ai.djl.ndarray.index.full.NDIndexFullPick;
import ai.djl.ndarray.index.full.NDIndexFullSlice;
import ai.djl.ndarray.index.full.NDIndexFullTake;
import java.util.List;
import java.util.Optional;

/**
 * Indices and slices of arrays over buffers; indices that contain arrays are delegated to another
 * engine.
 */
final class BufferIndexer extends NDArrayIndexer {

    private static final String ARRAYS = "an index with arrays in it";

    private final BufferManager manager;

    /**
     * @param manager of the results
     */
    BufferIndexer(BufferManager manager) {
        this.manager = manager;
    }

    @Override
    public NDArray get(NDArray array, NDIndex index) {
        BufferArray own = (BufferArray) array;
        if (index.getRank() == 0 && own.getShape().isScalar()) {
            return own.duplicate();
        }
        Optional<StridedView> view = view(own.view(), index);
        if (view.isEmpty()) {
            try (OtherEngine other = OtherEngine.of(own, ARRAYS)) {
                NDArray copy = other.copy();
                return copy.getNDArrayInternal()
                        .getIndexer(copy.getManager())
                        .get(copy, other.converted(index));
            }
        }
        NDArray part = own.viewed(view.get());
        part.attach(manager);
        return part;
    }

    @Override
    public void set(NDArray array, NDIndex index, Object value) {
        if (value instanceof Number n) {
            try (NDArray scalar = manager.create(n)) {
                set((BufferArray) array, index, scalar);
            }
        } else {
            set((BufferArray) array, index, (NDArray) value);
        }
    }

    private static void set(BufferArray own, NDIndex index, NDArray values) {
        Optional<StridedView> view = view(own.view(), index);
        if (view.isPresent()) {
            own.assign(view.get(), values);
            return;
        }
        try (OtherEngine other = OtherEngine.of(own, ARRAYS)) {
            NDArray copy = other.copy();
            copy.getNDArrayInternal()
                    .getIndexer(copy.getManager())
                    .set(copy, other.converted(index), other.copy(values));
            own.assign(copy);
        }
    }

    @Override
    public void setScalar(NDArray array, NDIndex index, Number value) {
        Optional<StridedView> view = view(((BufferArray) array).view(), index);
        if (view.isEmpty() || view.get().size() != 1) {
            throw new IllegalArgumentException("the index is not that of one element");
        }
        set(array, index, value);
    }

    /**
     * Returns the elements at an index, or empty if it contains arrays. Slices are limited to the
     * array.
     */
    private static Optional<StridedView> view(StridedView all, NDIndex index) {
        List<NDIndexElement> elements = index.getIndices();
        int named = 0;
        for (NDIndexElement element : elements) {
            if (element instanceof NDIndexFixed
                    || element instanceof NDIndexSlice
                    || element instanceof NDIndexAll) {
                named++;
            } else if (!(element instanceof NDIndexNull)) {
                return Optional.empty();
            }
        }
        int others = all.shape().length - named;
        if (others < 0) {
            throw new IllegalArgumentException(
                    "an index of " + named + " dimensions into shape " + all.djlShape());
        }
        StridedView view = all;
        int axis = 0;
        for (int i = 0; i < elements.size(); i++) {
            axis += i == index.getEllipsisIndex() ? others : 0;
            NDIndexElement element = elements.get(i);
            if (element instanceof NDIndexFixed fixed) {
                view = view.picked(axis, place(fixed.getIndex(), axis, view));
            } else if (element instanceof NDIndexNull) {
                view = view.expanded(axis++);
            } else {
                view = element instanceof NDIndexSlice slice ? sliced(view, axis, slice) : view;
                axis++;
            }
        }
        return Optional.of(view);
    }

    private static int place(long index, int axis, StridedView view) {
        int length = view.shape()[axis];
        if (index < -length || index >= length) {
            throw new IllegalArgumentException("index " + index + " of " + length);
        }
        return (int) (index < 0 ? index + length : index);
    }

    private static StridedView sliced(StridedView view, int axis, NDIndexSlice slice) {
        int length = view.shape()[axis];
        int start = clipped(slice.getMin(), 0, length);
        int end = Math.max(start, clipped(slice.getMax(), length, length));
        long step = slice.getStep() == null ? 1 : slice.getStep();
        if (step <= 0) {
            throw new IllegalArgumentException("a slice in steps of " + step);
        }
        int count = (int) ((end - start + step - 1) / step);
        return view.sliced(axis, start, (int) Math.min(step, length), count);
    }

    private static int clipped(Long index, int missing, int length) {
        if (index == null) {
            return missing;
        }
        return (int) Math.max(0, Math.min(length, index < 0 ? index + length : index));
    }

    @Override
    public NDArray get(NDArray array, NDIndexFullPick pick) {
        throw new IllegalStateException("all of an index is taken at once");
    }

    @Override
    public NDArray get(NDArray array, NDIndexFullTake take) {
        throw new IllegalStateException("all of an index is taken at once");
    }

    @Override
    public NDArray get(NDArray array, NDIndexFullSlice slice) {
        throw new IllegalStateException("all of an index is taken at once");
    }

    @Override
    public void set(NDArray array, NDIndexFullSlice slice, NDArray value) {
        throw new IllegalStateException("all of an index is taken at once");
    }

    @Override
    public void set(NDArray array, NDIndexFullSlice slice, Number value) {
        throw new IllegalStateException("all of an index is taken at once");
    }
}
