package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.ParameterStore;
import java.util.Collection;
import java.util.function.Supplier;

/**
 * One recorded pass through a tree of pure blocks. It closes arrays after the last child block that
 * uses them.
 *
 * @param store the parameters' store
 * @param recorder records which arrays are closed, and protects arrays that must stay open for
 *     other reasons
 */
record TreePass(ParameterStore store, Recorder recorder) {

    /** Runs a leaf, and closes all arrays that it created except those that it returns. */
    NDList inScope(Supplier<NDList> action) {
        int before = recorder.createdCount();
        NDList outputs = action.get();
        for (NDArray array : recorder.createdSince(before)) {
            if (outputs.stream().noneMatch(output -> ArrayProxies.real(output) == array)) {
                recorder.close(array);
            }
        }
        return outputs;
    }

    /** Closes arrays, except outputs and those that another block still needs. */
    void close(Collection<NDArray> dead, Collection<NDArray> outputs, Needed needed) {
        for (NDArray array : dead) {
            if (!Needed.containsSame(outputs, array) && !needed.contains(array)) {
                recorder.close((NDArray) ArrayProxies.real(array));
            }
        }
    }
}
