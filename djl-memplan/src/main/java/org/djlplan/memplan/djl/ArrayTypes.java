package org.djlplan.memplan.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Longs;
import java.util.Locale;
import org.djlplan.memplan.graph.ArrayType;

/** What is known of DJL's arrays before they are looked into. */
final class ArrayTypes {

    private ArrayTypes() {}

    /** Returns the types of a list of arrays, in order. */
    static ImmutableList<ArrayType> of(NDList arrays) {
        ImmutableList.Builder<ArrayType> types = ImmutableList.builder();
        for (NDArray array : arrays) {
            types.add(
                    new ArrayType(
                            array.getDataType().name().toLowerCase(Locale.ROOT),
                            Longs.asList(array.getShape().getShape())));
        }
        return types.build();
    }
}
