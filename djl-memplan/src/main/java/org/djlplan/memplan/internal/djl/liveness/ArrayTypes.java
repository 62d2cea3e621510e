package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.util.List;
import java.util.Locale;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Longs;

/** Converts between DJL's types and djl-plan's. */
public final class ArrayTypes {

    private ArrayTypes() {}

    static ArrayType of(NDArray array) {
        return new ArrayType(
                array.getDataType().name().toLowerCase(Locale.ROOT),
                Longs.asList(array.getShape().getShape()));
    }

    /** Returns the types of a list of arrays, in order. */
    public static ImmutableList<ArrayType> of(List<NDArray> arrays) {
        ImmutableList.Builder<ArrayType> types =
                ImmutableList.builderWithExpectedSize(arrays.size());
        for (NDArray array : arrays) {
            types.add(of(array));
        }
        return types.build();
    }

    /**
     * Returns DJL's data type.
     *
     * @throws IllegalArgumentException if DJL has no type with that name
     */
    static DataType dataType(ArrayType type) {
        return DataType.valueOf(type.dataType().toUpperCase(Locale.ROOT));
    }

    static Shape shape(ArrayType type) {
        return new Shape(Longs.toArray(type.shape()));
    }
}
