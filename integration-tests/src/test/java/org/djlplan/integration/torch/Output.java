package org.djlplan.integration.torch;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.djlplan.integration.support.Planned;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * One output of a prediction, on the Java heap; two outputs are equal if all their bits are equal.
 *
 * @param name empty unless the model names it
 */
public record Output(Optional<String> name, Shape shape, DataType type, ByteBuffer bytes) {

    /** Copies all outputs. */
    public static List<Output> copyOf(NDList outputs) {
        return outputs.stream().map(Output::copyOf).collect(ImmutableList.toImmutableList());
    }

    private static Output copyOf(NDArray output) {
        return new Output(
                Optional.ofNullable(output.getName()),
                output.getShape(),
                output.getDataType(),
                Planned.copy(output.toByteBuffer()));
    }
}
