package org.djlplan.memplan.graph;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * One operator of a graph. Tensors are given by id; absent optional inputs are left out.
 *
 * @param index in execution order and in {@link Graph#operators()}
 * @param type the engine's name of the operation, for example {@code CONV_2D}
 * @param inputs tensors it reads (constants and variables included)
 * @param outputs tensors it writes
 * @param temporaries scratch tensors that live only during this operator; known only from a live
 *     engine
 * @param inPlace the inputs that its output may overwrite, if the engine reports them
 */
public record Operator(
        int index,
        String type,
        List<Integer> inputs,
        List<Integer> outputs,
        List<Integer> temporaries,
        Optional<InPlace> inPlace) {

    /**
     * The inputs whose place the operator's output may take, if it has exactly one output.
     *
     * @param inputs their positions among the inputs; empty if there are none
     * @param copies whether the output is an unchanged copy of the input's bytes
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

    /** Creates an operator for which the engine does not report in-place inputs. */
    public Operator(
            int index,
            String type,
            List<Integer> inputs,
            List<Integer> outputs,
            List<Integer> temporaries) {
        this(index, type, inputs, outputs, temporaries, Optional.empty());
    }

    /** Returns this operator at another place in execution order. */
    public Operator at(int otherIndex) {
        return new Operator(otherIndex, type, inputs, outputs, temporaries, inPlace);
    }
}
