package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.ParameterStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * One forward pass through a tree of blocks. Arrays that blocks hand each other are attached to a
 * manager of the pass's own, and closed one by one.
 *
 * @param store where parameters come from
 * @param intermediate the manager of the pass
 * @param root the call's manager
 * @param figures counts what is closed
 */
record TreePass(ParameterStore store, NDManager intermediate, NDManager root, Figures figures)
        implements TreeCall {

    /**
     * Runs a leaf in a scope of its own: what it returns goes to the pass's manager, what it keeps
     * in fields or what lies in a direct buffer to the call's; the rest is closed.
     */
    @Override
    public NDList inScope(NDList inputs, Supplier<NDList> action, Supplier<Set<NDArray>> held) {
        List<NDArray> given = new ArrayList<>(inputs);
        try (NDManager scope = intermediate.newSubManager()) {
            for (NDArray input : given) {
                if (input.getManager() == intermediate) {
                    input.tempAttach(scope);
                }
            }
            NDList outputs = action.get();
            for (NDArray output : outputs) {
                if (output.getManager() == scope && !TreeCall.containsSame(given, output)) {
                    output.attach(intermediate);
                }
            }
            Set<NDArray> wanted = held.get();
            for (NDArray array : scope.getManagedArrays()) {
                if (!TreeCall.containsSame(given, array) && !array.isReleased()) {
                    if (wanted.contains(array) || mustStay(array)) {
                        array.attach(root);
                    } else if (array.getManager() == scope) {
                        figures.closedEarly(1);
                    }
                }
            }
            return outputs;
        }
    }

    @Override
    public void close(Collection<NDArray> dead, Collection<NDArray> outputs, Needed needed) {
        for (NDArray array : dead) {
            if (array.isReleased()
                    || array.getManager() != intermediate
                    || TreeCall.containsSame(outputs, array)
                    || needed.contains(array)) {
                continue;
            }
            if (mustStay(array)) {
                array.attach(root);
            } else {
                array.close();
                figures.closedEarly(1);
            }
        }
    }

    private static boolean mustStay(NDArray array) {
        return DirectBuffers.mayBack(array) || !DirectBuffers.known(array);
    }
}
