package org.djlplan.memplan.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDArrayIndexer;
import ai.djl.ndarray.index.full.NDIndexFullPick;
import ai.djl.ndarray.index.full.NDIndexFullSlice;
import ai.djl.ndarray.index.full.NDIndexFullTake;
import java.util.function.Function;

/** Indices and slices of arrays over buffers; others are the alternative engine's. */
final class BufferIndexer extends NDArrayIndexer {

    private final BufferManager manager;

    /**
     * @param manager of the results
     */
    BufferIndexer(BufferManager manager) {
        this.manager = manager;
    }

    @Override
    public NDArray get(NDArray array, NDIndexFullPick fullPick) {
        return elsewhere(
                other ->
                        other.from(array)
                                .getNDArrayInternal()
                                .getIndexer(other)
                                .get(other.from(array), fullPick));
    }

    @Override
    public NDArray get(NDArray array, NDIndexFullTake fullTake) {
        return elsewhere(
                other ->
                        other.from(array)
                                .getNDArrayInternal()
                                .getIndexer(other)
                                .get(other.from(array), fullTake));
    }

    private NDArray elsewhere(Function<NDManager, NDArray> get) {
        return get.apply(
                manager.alternative()
                        .orElseThrow(
                                () -> ArithmeticArray.unsupported("an index with arrays in it")));
    }

    @Override
    public NDArray get(NDArray array, NDIndexFullSlice slice) {
        NDArray part = ((BufferArray) array).strided(view(array, slice));
        part.attach(manager);
        return slice.getToSqueeze().length == 0 ? part : part.squeeze(slice.getToSqueeze());
    }

    @Override
    public void set(NDArray array, NDIndexFullSlice slice, NDArray value) {
        // A value may have the dimensions of single indices, or not.
        boolean bare =
                slice.getToSqueeze().length > 0
                        && value.getShape().equals(slice.getSqueezedShape());
        ((BufferArray) array)
                .assign(view(array, slice), bare ? value.reshape(slice.getShape()) : value);
    }

    @Override
    public void set(NDArray array, NDIndexFullSlice slice, Number value) {
        NDArray element = manager.create(value.doubleValue());
        set(array, slice, element);
        element.close();
    }

    private static StridedView view(NDArray array, NDIndexFullSlice slice) {
        StridedView view = StridedView.of(array.getShape());
        for (int i = 0; i < slice.getMin().length; i++) {
            view =
                    view.sliced(
                            i,
                            (int) slice.getMin()[i],
                            (int) slice.getStep()[i],
                            (int) slice.getShape().get(i));
        }
        return view;
    }
}
