package org.djlplan.memplan.graph;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One operator of a graph. Tensors are given by id; optional inputs that are absent are left out.
 *
 * @param index its place in execution order, which is its place in {@link Graph#operators()}
 * @param type the engine's name for what it does, for example {@code CONV_2D}
 * @param inputs tensors it reads (constants and variables included)
 * @param outputs tensors it writes
 * @param temporaries scratch tensors that live during this operator only; known only from a live
 *     engine
 * @param inPlace where its output may lie, as far as the engine tells
 */
public record Operator(
        int index,
        String type,
        List<Integer> inputs,
        List<Integer> outputs,
        List<Integer> temporaries,
        Optional<InPlace> inPlace) {

    /**
     * Inputs where the output may lie instead of in a place of its own, if there is just one.
     *
     * @param inputs their positions among the inputs; empty for none
     * @param copies whether the output has the input's bytes, which stay as they are
     */
    public record InPlace(Set<Integer> inputs, boolean copies) {

        public InPlace {
            inputs = ImmutableSet.copyOf(inputs);
        }
    }

    /** The type of a delegate kernel, which runs several operators of a file. */
    public static final String DELEGATE = "DELEGATE";

    public Operator {
        checkArgument(index >= 0, "negative operator index: %s", index);
        inputs = ImmutableList.copyOf(inputs);
        outputs = ImmutableList.copyOf(outputs);
        temporaries = ImmutableList.copyOf(temporaries);
    }

    /** An operator of which no engine tells where its output may lie. */
    public Operator(
            int index,
            String type,
            List<Integer> inputs,
            List<Integer> outputs,
            List<Integer> temporaries) {
        this(index, type, inputs, outputs, temporaries, Optional.empty());
    }

    /** Returns the same at another place in execution order. */
    public Operator at(int otherIndex) {
        return new Operator(otherIndex, type, inputs, outputs, temporaries, inPlace);
    }
}
