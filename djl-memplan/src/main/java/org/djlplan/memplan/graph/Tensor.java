package org.djlplan.memplan.graph;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * One tensor of a graph.
 *
 * @param id index in {@link Graph#tensors()}; also the engine's own tensor index
 * @param name in the engine, possibly empty
 * @param type type of the elements
 * @param shape dimensions, outermost first; empty for a scalar; −1 if unknown until run time
 * @param bytes its size, 0 if unknown until run time
 * @param storage owner and lifetime of its memory
 * @param region its position in the model file; only for constants
 */
public record Tensor(
        int id,
        String name,
        ElementType type,
        List<Integer> shape,
        long bytes,
        Storage storage,
        Optional<FileRegion> region) {

    public Tensor {
        checkArgument(id >= 0, "negative tensor id: %s", id);
        checkArgument(bytes >= 0, "tensor %s has a negative size: %s", id, bytes);
        shape = ImmutableList.copyOf(shape);
    }
}
