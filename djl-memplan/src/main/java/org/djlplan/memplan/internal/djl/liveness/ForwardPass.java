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
 *
 * @param store the parameters' store
 * @param inputs arrays of the caller, which are never closed
 * @param params DJL's optional parameters
 * @param progress phase of the pass
 */
record ForwardPass(
        ParameterStore store,
        NDList inputs,
        Optional<PairList<String, Object>> params,
        Progress progress) {

    /** The phase of a pass, which runs on one thread: before, in or after the block's forward. */
    static final class Progress {

        private boolean begun;
        private Optional<NDList> outputs = Optional.empty();

        /** Returns whether the block's forward was called, so that part of it may have run. */
        boolean begun() {
            return begun;
        }

        /** Returns the outputs, if forward returned: arrays or their stand-ins. */
        Optional<NDList> outputs() {
            return outputs;
        }
    }

    ForwardPass(ParameterStore store, NDList inputs, Optional<PairList<String, Object>> params) {
        this(store, inputs, params, new Progress());
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

    /** Runs a block with other arrays instead of these. */
    NDList run(Block block, ParameterStore otherStore, NDList otherInputs) {
        progress.begun = true;
        NDList outputs = block.forward(otherStore, otherInputs, false, params.orElse(null));
        progress.outputs = Optional.ofNullable(outputs);
        return outputs;
    }
}
