package org.djlplan.integration.torch.liveness;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Optional;

/** A user's block: a function, and fields that the function may use. */
final class CodeBlock extends AbstractBlock {

    /** The function of a block. */
    interface Code {
        NDList forward(CodeBlock self, ParameterStore store, NDList inputs);
    }

    private final Code code;

    /** Any object that the code keeps. */
    Optional<Object> field = Optional.empty();

    /** Arrays that the code keeps. */
    NDList kept = new NDList();

    /** A counter for the code. */
    int calls;

    CodeBlock(Code code) {
        this.code = code;
    }

    @Override
    protected NDList forwardInternal(
            ParameterStore store,
            NDList inputs,
            boolean training,
            PairList<String, Object> params) {
        return code.forward(this, store, inputs);
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputShapes) {
        return inputShapes;
    }
}
