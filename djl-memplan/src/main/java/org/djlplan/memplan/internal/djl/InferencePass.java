package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Optional;

/** A block's own forward pass for inference. */
@FunctionalInterface
interface InferencePass {

    /** Returns the forward pass of a block as it is. */
    static InferencePass of(Block block) {
        return (parameters, inputs, params) ->
                block.forward(parameters, inputs, false, params.orElse(null));
    }

    /**
     * Runs it.
     *
     * @param params the caller's optional parameters
     */
    NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params);
}
