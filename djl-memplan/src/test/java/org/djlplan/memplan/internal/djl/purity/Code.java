package org.djlplan.memplan.internal.djl.purity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Optional;

/** A block that computes an array from its first input. */
abstract class Code extends AbstractBlock {

    protected int count;

    abstract NDArray run(NDArray x);

    @Override
    protected NDList forwardInternal(
            ParameterStore store,
            NDList inputs,
            boolean training,
            PairList<String, Object> params) {
        return new NDList(run(inputs.head()));
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputShapes) {
        return inputShapes;
    }

    @Override
    public String toString() {
        return getClass().getSimpleName();
    }

    static void assertOpaque(Block block) {
        BlockCode code = BlockCode.look(block);
        assertEquals(
                Optional.of(Finding.Kind.OPAQUE), code.impurity().map(Finding::kind), "is pure");
    }

    static void assertPure(Block block) {
        assertEquals(Optional.empty(), BlockCode.look(block).impurity());
    }

    static void assertNotPure(Block block) {
        assertTrue(BlockCode.look(block).impurity().isPresent(), "is pure");
    }
}
