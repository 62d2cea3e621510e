package org.djlplan.memplan.internal.runtime.tflite;

import java.util.List;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * An input or output of a model.
 *
 * @param name the model's name for the input or output
 * @param type type of its elements
 * @param shape dimensions
 * @param bytes size in bytes
 */
public record TensorInfo(String name, ElementType type, List<Integer> shape, long bytes) {

    public TensorInfo {
        shape = ImmutableList.copyOf(shape);
    }
}
