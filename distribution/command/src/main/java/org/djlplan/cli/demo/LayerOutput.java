package org.djlplan.cli.demo;

import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The output of a layer, which later layers take as input.
 *
 * @param tensor index of the tensor
 * @param shape its dimensions, outermost first; images are [batch, height, width, channels]
 */
public record LayerOutput(int tensor, List<Integer> shape) {

    public LayerOutput {
        shape = ImmutableList.copyOf(shape);
    }

    /** Returns a dimension; negative ones count from the last, which is −1. */
    public int dimension(int index) {
        return shape.get(index < 0 ? shape.size() + index : index);
    }
}
