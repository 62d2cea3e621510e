package org.djlplan.memplan.cli.zoo;

import ai.djl.ndarray.types.DataDesc;
import ai.djl.nn.Block;
import com.google.common.collect.ImmutableList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A network that DJL builds itself, without weights.
 *
 * @param name what users call it
 * @param inputs type and usual shape of every input, the batch first
 * @param blocks builds it; may throw {@link NoClassDefFoundError} where DJL's model zoo is not on
 *     the class path
 */
public record Network(String name, List<DataDesc> inputs, Supplier<Block> blocks) {

    public Network {
        inputs = ImmutableList.copyOf(inputs);
    }
}
