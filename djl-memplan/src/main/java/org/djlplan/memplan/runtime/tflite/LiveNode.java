package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * What the engine says of one operator. Ids as the engine has them: −1 stands for an optional input
 * that is absent.
 */
record LiveNode(
        int builtinCode, List<Integer> inputs, List<Integer> outputs, List<Integer> temporaries) {

    LiveNode {
        inputs = ImmutableList.copyOf(inputs);
        outputs = ImmutableList.copyOf(outputs);
        temporaries = ImmutableList.copyOf(temporaries);
    }
}
