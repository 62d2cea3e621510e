package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Optional;

/**
 * The arguments of one forward pass. Blocks modify their list of inputs, so each run gets a copy.
 */
final class ForwardPass {

    private final ParameterStore store;
    private final NDList inputs;
    private final Optional<PairList<String, Object>> params;
    private boolean begun;

    /**
     * @param store the parameters' store
     * @param inputs arrays of the caller, which are never closed
     * @param params DJL's optional parameters
     */
    ForwardPass(ParameterStore store, NDList inputs, Optional<PairList<String, Object>> params) {
        this.store = store;
        this.inputs = inputs;
        this.params = params;
    }

    ParameterStore store() {
        return store;
    }

    NDList inputs() {
        return inputs;
    }

    /** Returns the same pass with other inputs. */
    ForwardPass with(NDList others) {
        return new ForwardPass(store, others, params);
    }

    /** Returns whether the block's forward was called, so that part of it may have run. */
    boolean hasBegun() {
        return begun;
    }

    /** Returns whether any array may be closed early. */
    boolean tractable() {
        for (NDArray input : inputs) {
            if (input.getDataType() == DataType.STRING) {
                return false;
            }
        }
        // DJL never closes arrays of the root manager.
        return !inputs.isEmpty() && root().getParentManager() != null;
    }

    /** Returns the call's manager, which closes all remaining arrays at the end. */
    NDManager root() {
        return inputs.head().getManager();
    }

    /** Runs a block as in DJL. */
    NDList runStock(Block block) {
        return run(block, store, new NDList(inputs));
    }

    /** Runs a block with another store and other arrays instead of these. */
    NDList run(Block block, ParameterStore otherStore, NDList otherInputs) {
        begun = true;
        return block.forward(otherStore, otherInputs, false, params.orElse(null));
    }
}
