package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.BlockList;
import ai.djl.nn.SequentialBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.List;
import java.util.Optional;

/**
 * A sequential block with a planned forward pass for inference. It is a separate class because
 * users cast a model's block to {@link SequentialBlock} to change its last layers; a changed block
 * runs unplanned.
 */
final class PlannedSequentialBlock extends SequentialBlock {

    private final InferencePass planned;
    private final List<?> plannedChildren;
    private final boolean plannedIntermediate;

    /**
     * @param inner its children become the children of this block, too
     * @param planned serves inference
     */
    PlannedSequentialBlock(SequentialBlock inner, InferencePass planned) {
        this.planned = planned;
        BlockList blocks = inner.getChildren();
        blocks.forEach(children::add);
        plannedChildren = blocks.values();
        plannedIntermediate = inner.isReturnIntermediate();
        setReturnIntermediate(plannedIntermediate);
        if (inner.isInitialized()) {
            inputNames = inputNames(inner);
            inputShapes = inner.getInputShapes().clone();
            DataType[] types = inner.getOutputDataTypes();
            outputDataTypes = types == null ? null : types.clone();
        }
    }

    /** A block with loaded parameters knows its inputs' shapes, but not their names. */
    private static List<String> inputNames(SequentialBlock block) {
        try {
            return block.describeInput().keys();
        } catch (IllegalArgumentException e) {
            return List.of();
        }
    }

    @Override
    protected NDList forwardInternal(
            ParameterStore parameterStore,
            NDList inputs,
            boolean training,
            PairList<String, Object> params) {
        if (training || changed()) {
            return super.forwardInternal(parameterStore, inputs, training, params);
        }
        return planned.forward(parameterStore, inputs, Optional.ofNullable(params));
    }

    /** The same text as without djl-plan, for users and logs. */
    @Override
    public String toString() {
        return super.toString()
                .replaceFirst(getClass().getSimpleName(), SequentialBlock.class.getSimpleName());
    }

    private boolean changed() {
        return isReturnIntermediate() != plannedIntermediate
                || !children.values().equals(plannedChildren);
    }
}
