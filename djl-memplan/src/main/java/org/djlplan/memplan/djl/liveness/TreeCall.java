package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.ParameterStore;
import java.util.Collection;
import java.util.Set;
import java.util.function.Supplier;

/** One forward pass through a tree of blocks, which says when arrays have done their work. */
interface TreeCall {

    /** Returns where parameters come from. */
    ParameterStore store();

    /**
     * Runs a leaf. What it makes has done its work when it ends, but for what it returns.
     *
     * @param held returns the arrays that must stay
     */
    NDList inScope(NDList inputs, Supplier<NDList> action, Supplier<Set<NDArray>> held);

    /** Closes arrays that are not needed any more, except those that someone else waits for. */
    void close(Collection<NDArray> dead, Collection<NDArray> outputs, Needed needed);

    /** Returns whether this very array is in the list; arrays equal each other by content. */
    static boolean containsSame(Collection<NDArray> arrays, NDArray array) {
        for (NDArray other : arrays) {
            if (other == array) {
                return true;
            }
        }
        return false;
    }
}
