package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * What the engine says of one node. Ids as the engine has them: −1 stands for an optional input
 * that is absent.
 *
 * @param id of an operator its index in the file
 * @param builtinCode the engine's code of what it does
 * @param replaced the operators that it runs for them, if it is a delegate kernel
 */
record LiveNode(
        int id,
        int builtinCode,
        List<Integer> replaced,
        List<Integer> inputs,
        List<Integer> outputs,
        List<Integer> temporaries) {

    LiveNode {
        replaced = ImmutableList.copyOf(replaced);
        inputs = ImmutableList.copyOf(inputs);
        outputs = ImmutableList.copyOf(outputs);
        temporaries = ImmutableList.copyOf(temporaries);
    }

    /** Returns whether a delegate runs it. */
    boolean delegated() {
        return !replaced.isEmpty();
    }
}
