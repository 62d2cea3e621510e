package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Longs;
import java.util.List;
import java.util.Locale;
import org.djlplan.memplan.graph.ArrayType;

/** Translates between DJL's types and ours. */
public final class ArrayTypes {

    private ArrayTypes() {}

    static ArrayType of(NDArray array) {
        return new ArrayType(
                array.getDataType().name().toLowerCase(Locale.ROOT),
                Longs.asList(array.getShape().getShape()));
    }

    /** Returns the types of a list of arrays, in order. */
    public static ImmutableList<ArrayType> of(List<NDArray> arrays) {
        return arrays.stream().map(ArrayTypes::of).collect(ImmutableList.toImmutableList());
    }

    /**
     * Returns DJL's data type.
     *
     * @throws IllegalArgumentException if DJL has none of that name
     */
    static DataType dataType(ArrayType type) {
        return DataType.valueOf(type.dataType().toUpperCase(Locale.ROOT));
    }

    static Shape shape(ArrayType type) {
        return new Shape(Longs.toArray(type.shape()));
    }
}
