package org.djlplan.memplan.djl;

import ai.djl.ndarray.NDList;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Optional;

/** A block's own forward pass for inference. */
@FunctionalInterface
interface InferencePass {

    /**
     * Runs it.
     *
     * @param params the caller's optional parameters
     */
    NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params);
}
