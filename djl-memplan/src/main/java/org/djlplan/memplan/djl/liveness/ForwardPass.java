package org.djlplan.memplan.djl.liveness;

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
 * @param store where parameters come from
 * @param inputs the arrays the caller gave, which nobody closes
 * @param params DJL's optional parameters
 * @param progress how far the block's forward came
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

        /** Returns whether the block's forward was called, so that some of it may have run. */
        boolean begun() {
            return begun;
        }

        /** Returns what it returned, if it did: arrays or their stand-ins. */
        Optional<NDList> outputs() {
            return outputs;
        }
    }

    ForwardPass(ParameterStore store, NDList inputs, Optional<PairList<String, Object>> params) {
        this(store, inputs, params, new Progress());
    }

    /** Returns whether something may be closed early at all. */
    boolean tractable() {
        for (NDArray input : inputs) {
            if (input.getDataType() == DataType.STRING) {
                return false;
            }
        }
        // What belongs to the root manager is never closed by DJL.
        return !inputs.isEmpty() && root().getParentManager() != null;
    }

    /** Returns the call's manager, which closes in the end what is not closed earlier. */
    NDManager root() {
        return inputs.head().getManager();
    }

    /** Runs a block as DJL does. */
    NDList runStock(Block block) {
        return run(block, store, new NDList(inputs));
    }

    /** Runs a block with other arrays in the place of these. */
    NDList run(Block block, ParameterStore otherStore, NDList otherInputs) {
        progress.begun = true;
        NDList outputs = block.forward(otherStore, otherInputs, false, params.orElse(null));
        progress.outputs = Optional.ofNullable(outputs);
        return outputs;
    }
}
