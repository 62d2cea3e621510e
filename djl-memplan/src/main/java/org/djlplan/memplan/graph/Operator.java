package org.djlplan.memplan.graph;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * One operator of a graph. Tensors are given by id; optional inputs that are absent are left out.
 *
 * @param index its place in execution order, which is its place in {@link Graph#operators()}
 * @param type the engine's name for what it does, for example {@code CONV_2D}
 * @param inputs tensors it reads (constants and variables included)
 * @param outputs tensors it writes
 * @param temporaries scratch tensors that live during this operator only; known only from a live
 *     engine
 */
public record Operator(
        int index,
        String type,
        List<Integer> inputs,
        List<Integer> outputs,
        List<Integer> temporaries) {

    public Operator {
        checkArgument(index >= 0, "negative operator index: %s", index);
        inputs = ImmutableList.copyOf(inputs);
        outputs = ImmutableList.copyOf(outputs);
        temporaries = ImmutableList.copyOf(temporaries);
    }
}
