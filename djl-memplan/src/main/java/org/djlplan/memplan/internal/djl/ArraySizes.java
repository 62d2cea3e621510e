package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import org.djlplan.memplan.internal.runtime.InputSizes;

/** The sizes of a model's inputs. */
final class ArraySizes {

    private ArraySizes() {}

    /** Returns the sizes; unknown ones if an array has no numbers, or is closed. */
    static InputSizes of(NDList inputs) {
        long[][] shapes = new long[inputs.size()][];
        try {
            for (int i = 0; i < shapes.length; i++) {
                NDArray input = inputs.get(i);
                if (input.getDataType() == DataType.STRING) {
                    return InputSizes.UNKNOWN;
                }
                shapes[i] = input.getShape().getShape();
            }
        } catch (RuntimeException e) {
            // The engine reports it.
            return InputSizes.UNKNOWN;
        }
        return InputSizes.of(shapes);
    }
}
