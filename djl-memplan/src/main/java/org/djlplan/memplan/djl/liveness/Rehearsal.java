package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.training.ParameterStore;
import java.util.Optional;
import org.djlplan.memplan.djl.purity.BlockCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two passes of a block of ours, one recorded and one that follows it, before anybody's block runs
 * that keeps state. A class or a method that this version of DJL, or the application, does not have
 * shows here, where nothing is lost, and not in the middle of a forward that must not run twice.
 */
final class Rehearsal {

    private static final Logger logger = LoggerFactory.getLogger(Rehearsal.class);

    private static volatile boolean done;

    private Rehearsal() {}

    /**
     * Does nothing if it was done already.
     *
     * @param root the manager of a call
     * @throws LinkageError if something is missing
     */
    static void once(NDManager root) {
        if (done) {
            return;
        }
        try (NDManager manager = root.newSubManager()) {
            run(manager);
        } catch (RuntimeException e) {
            // What an engine cannot do shows in the block's own pass, too.
            logger.debug("The rehearsal ended early", e);
        }
        done = true;
    }

    private static void run(NDManager manager) {
        Block block = new LambdaBlock(Rehearsal::pass);
        GuardedLevel level = new GuardedLevel(block, BlockCode.UNREAD, new Figures(), pass -> true);
        TypeState state = new TypeState();
        NDList inputs = new NDList(manager.ones(new Shape(2)));
        for (int pass = 0; pass < 2; pass++) {
            NDList unused =
                    level.forward(
                            new ForwardPass(
                                    new ParameterStore(manager, false), inputs, Optional.empty()),
                            state);
        }
    }

    /** Some of all kinds of calls: of an array, with another one, of a list, of a manager. */
    private static NDList pass(NDList inputs) {
        NDArray x = inputs.head();
        NDArray sum = x.add(x.getManager().zeros(x.getShape(), DataType.FLOAT32));
        NDArray joined = sum.mul(2).concat(x);
        NDList halves = joined.split(2);
        return new NDList(halves.head().getNDArrayInternal().relu().addi(1));
    }
}
