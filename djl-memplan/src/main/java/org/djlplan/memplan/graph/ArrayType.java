package org.djlplan.memplan.graph;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The element type and shape of an array.
 *
 * @param dataType element type, by the engine's name, in lower case
 * @param shape dimensions; empty for a scalar
 */
public record ArrayType(String dataType, List<Long> shape) {

    public ArrayType {
        checkArgument(!dataType.isEmpty(), "an array without an element type");
        shape = ImmutableList.copyOf(shape);
        for (long dimension : shape) {
            checkArgument(dimension >= 0, "a shape of %s", shape);
        }
    }

    /** Returns for example {@code 1x3x224x224:float32}. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (long dimension : shape) {
            text.append(text.length() == 0 ? "" : "x").append(dimension);
        }
        return text.append(':').append(dataType).toString();
    }
}
