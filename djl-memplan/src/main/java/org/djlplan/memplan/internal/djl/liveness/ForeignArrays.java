package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.djlplan.memplan.internal.source.block.BlockRecording;
import org.djlplan.thirdparty.guava.base.Strings;

/**
 * The arrays that a recorded pass used and did not create: its inputs, then others, such as
 * parameters, in order of their first use. They are never closed.
 */
final class ForeignArrays {

    private final IdentityHashMap<NDArray, Integer> numbers = new IdentityHashMap<>();
    private final List<BlockRecording.Array> all = new ArrayList<>();
    private final int inputCount;

    ForeignArrays(List<NDArray> inputs) {
        inputs.forEach(this::number);
        inputCount = all.size();
    }

    /** Returns the position of an array in {@link #all}, and adds it at its first use. */
    int number(NDArray array) {
        return numbers.computeIfAbsent(
                array,
                key -> {
                    all.add(
                            new BlockRecording.Array(
                                    ArrayTypes.of(key), true, Strings.nullToEmpty(key.getName())));
                    return all.size() - 1;
                });
    }

    /** Returns all arrays so far. */
    List<BlockRecording.Array> all() {
        return all;
    }

    /** Returns how many of them are inputs; an array that is given twice is one input. */
    int inputCount() {
        return inputCount;
    }
}
