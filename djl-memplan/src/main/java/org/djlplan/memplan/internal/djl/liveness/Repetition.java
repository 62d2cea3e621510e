package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import org.djlplan.memplan.internal.djl.purity.BlockCode;

/**
 * Runs a pass again as in DJL, after early closing has broken it. Only a pure block may be run
 * twice, so its purity is checked again, because the block may have got other children or functions
 * since it was loaded.
 *
 * @param block the block that DJL created
 * @param code the findings when the block was loaded; if they have no hash, the purity is not
 *     checked again
 */
record Repetition(Block block, BlockCode code) {

    /**
     * Runs the pass.
     *
     * @param failure of the first run
     * @throws IllegalStateException if the block must not be run twice
     */
    NDList run(ForwardPass pass, RuntimeException failure) {
        if (!code.hash().isEmpty()) {
            BlockCode now = BlockCode.look(block);
            if (!now.pure()) {
                throw tooEarly(block, failure);
            }
        }
        return pass.runStock(block);
    }

    /** Returns the exception for a pass that cannot be finished. */
    static IllegalStateException tooEarly(Block block, RuntimeException failure) {
        return new IllegalStateException(
                "djl-plan closed an array of "
                        + block.getClass().getName()
                        + " too early, and must not run its forward pass twice; nothing of it is"
                        + " closed early from now on. memplan.liveness=off avoids this",
                failure);
    }
}
