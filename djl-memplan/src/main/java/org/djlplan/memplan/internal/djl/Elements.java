package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;

/** Numbers of elements of a model's inputs, by which its predictions need memory. */
final class Elements {

    private Elements() {}

    /** Returns the number of elements; a large one if an array has no numbers, or is closed. */
    static long of(NDList inputs) {
        long elements = 0;
        try {
            for (NDArray input : inputs) {
                if (input.getDataType() == DataType.STRING) {
                    return Long.MAX_VALUE;
                }
                elements += Math.max(0, input.getShape().size());
            }
        } catch (RuntimeException e) {
            // The engine reports it.
            return Long.MAX_VALUE;
        }
        return elements;
    }
}
