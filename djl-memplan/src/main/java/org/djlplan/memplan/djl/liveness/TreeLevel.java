package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes arrays after the last child block that uses them, at full depth of sequential and parallel
 * blocks; other blocks are leaves and run in a scope of their own. Thread-safe.
 */
final class TreeLevel {

    private static final Logger logger = LoggerFactory.getLogger(TreeLevel.class);

    private final Block block;
    private final LivenessCounters counters;
    private final Repetition repetition;
    private volatile Optional<TreeNode> tree = Optional.empty();
    private volatile boolean exhausted;

    TreeLevel(Block block, LivenessCounters counters, Repetition repetition) {
        this.block = block;
        this.counters = counters;
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
            counters.fellBack();
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
            TreeCall call = new TreePass(pass.store(), intermediate, root, counters);
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

    /**
     * One forward pass through a tree of blocks. Arrays that blocks hand each other are attached to
     * a manager of the pass's own, and closed one by one.
     *
     * @param store where parameters come from
     * @param intermediate the manager of the pass
     * @param root the call's manager
     * @param counters counts what is closed
     */
    private record TreePass(
            ParameterStore store, NDManager intermediate, NDManager root, LivenessCounters counters)
            implements TreeCall {

        /**
         * Runs a leaf in a scope of its own: what it returns goes to the pass's manager, what it
         * keeps in fields or what lies in a direct buffer to the call's; the rest is closed.
         */
        @Override
        public NDList inScope(NDList inputs, Supplier<NDList> action, Supplier<Set<NDArray>> held) {
            List<NDArray> given = new ArrayList<>(inputs);
            try (NDManager scope = intermediate.newSubManager()) {
                for (NDArray input : given) {
                    if (input.getManager() == intermediate) {
                        input.tempAttach(scope);
                    }
                }
                NDList outputs = action.get();
                for (NDArray output : outputs) {
                    if (output.getManager() == scope && !TreeCall.containsSame(given, output)) {
                        output.attach(intermediate);
                    }
                }
                Set<NDArray> wanted = held.get();
                for (NDArray array : scope.getManagedArrays()) {
                    if (!TreeCall.containsSame(given, array) && !array.isReleased()) {
                        if (wanted.contains(array) || mustStay(array)) {
                            array.attach(root);
                        } else if (array.getManager() == scope) {
                            counters.closedEarly(1);
                        }
                    }
                }
                return outputs;
            }
        }

        @Override
        public void close(Collection<NDArray> dead, Collection<NDArray> outputs, Needed needed) {
            for (NDArray array : dead) {
                if (array.isReleased()
                        || array.getManager() != intermediate
                        || TreeCall.containsSame(outputs, array)
                        || needed.contains(array)) {
                    continue;
                }
                if (mustStay(array)) {
                    array.attach(root);
                } else {
                    array.close();
                    counters.closedEarly(1);
                }
            }
        }

        private static boolean mustStay(NDArray array) {
            return DirectBuffers.mayBack(array) || !DirectBuffers.known(array);
        }
    }
}
