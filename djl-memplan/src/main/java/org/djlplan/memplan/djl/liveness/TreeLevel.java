package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes arrays after the last child block that uses them, at full depth of sequential and parallel
 * blocks; other blocks are leaves and run in a scope of their own. Thread-safe.
 */
final class TreeLevel {

    private static final Logger logger = LoggerFactory.getLogger(TreeLevel.class);

    private final Block block;
    private final Figures figures;
    private final Repetition repetition;
    private volatile Optional<TreeNode> tree = Optional.empty();
    private volatile boolean exhausted;

    TreeLevel(Block block, Figures figures, Repetition repetition) {
        this.block = block;
        this.figures = figures;
        this.repetition = repetition;
    }

    /** Returns whether this level cannot serve the block; no pass should come here then. */
    boolean exhausted() {
        return exhausted;
    }

    NDList forward(ForwardPass pass) {
        try {
            return runTree(pass);
        } catch (RuntimeException e) {
            // If DJL fails, too, it is the call's fault and says nothing about the block.
            NDList outputs = repetition.run(pass, e);
            figures.fellBack();
            giveUp(e);
            return outputs;
        }
    }

    private NDList runTree(ForwardPass pass) {
        NDManager root = pass.root();
        try (NDManager intermediate = root.newSubManager()) {
            // Inputs may be shared with other threads, so their attachment is not touched.
            NDList aliases = new NDList(pass.inputs().size());
            for (NDArray input : pass.inputs()) {
                NDArray alias = input.stopGradient();
                alias.setName(input.getName());
                alias.attach(intermediate);
                aliases.add(alias);
            }
            NDList given = new NDList(aliases);
            TreeCall call = new TreePass(pass.store(), intermediate, root, figures);
            NDList outputs = node().run(call, aliases, Needed.nothing(), pass.params());
            for (int i = 0; i < outputs.size(); i++) {
                NDArray output = outputs.get(i);
                if (output.isReleased()) {
                    throw new IllegalStateException("an output is closed already");
                }
                for (int k = 0; k < given.size(); k++) {
                    if (output == given.get(k)) {
                        outputs.set(i, pass.inputs().get(k));
                    }
                }
                if (output.getManager() == intermediate && outputs.get(i) == output) {
                    output.attach(root);
                }
            }
            return outputs;
        }
    }

    private TreeNode node() {
        Optional<TreeNode> known = tree;
        if (known.isPresent() && known.get().current()) {
            return known.get();
        }
        TreeNode made = TreeNode.of(block);
        tree = Optional.of(made);
        return made;
    }

    private synchronized void giveUp(RuntimeException cause) {
        if (!exhausted) {
            exhausted = true;
            logger.warn(
                    "Intermediates of {} are left to DJL: {}",
                    block.getClass().getSimpleName(),
                    cause.toString());
        }
    }
}
