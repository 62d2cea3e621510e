package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.util.PairList;
import com.google.common.collect.ImmutableList;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** A block in the tree of blocks, and how to run it with its children's arrays closed early. */
sealed interface TreeNode {

    /** The block. */
    Block block();

    /**
     * Runs the block. It may close its inputs, unless they are needed.
     *
     * @param params DJL's optional parameters
     */
    NDList run(
            TreeCall call, NDList inputs, Needed needed, Optional<PairList<String, Object>> params);

    /** Returns whether the tree below the block is still the one this was made of. */
    boolean current();

    /** Returns the node for a block. */
    static TreeNode of(Block block) {
        if (block instanceof SequentialBlock sequence && inherits(block, SequentialBlock.class)) {
            return new Sequence(sequence, children(block));
        }
        if (block instanceof ParallelBlock && inherits(block, ParallelBlock.class)) {
            Optional<Function<List<NDList>, NDList>> combine = combining((ParallelBlock) block);
            if (combine.isPresent()) {
                return new Branches(block, children(block), combine.get());
            }
        }
        return new Leaf(block, mayHold(block));
    }

    /**
     * Returns the function by which a parallel block combines its branches, which DJL keeps
     * private; empty if this version of DJL keeps it elsewhere.
     */
    @SuppressWarnings("unchecked")
    private static Optional<Function<List<NDList>, NDList>> combining(ParallelBlock block) {
        try {
            Field field = ParallelBlock.class.getDeclaredField("function");
            field.setAccessible(true);
            return Optional.ofNullable((Function<List<NDList>, NDList>) field.get(block));
        } catch (ReflectiveOperationException | RuntimeException e) {
            return Optional.empty();
        }
    }

    private static List<TreeNode> children(Block block) {
        return block.getChildren().values().stream()
                .map(TreeNode::of)
                .collect(ImmutableList.toImmutableList());
    }

    /** Whether a subclass runs as its base class does. */
    private static boolean inherits(Block block, Class<?> base) {
        for (Class<?> type = block.getClass(); type != base; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().startsWith("forward")
                        || method.getName().equals("getChildren")) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Whether a block may keep arrays in fields; DJL's own do not, but lambdas are users'. */
    private static boolean mayHold(Block block) {
        return block instanceof LambdaBlock
                || !block.getClass().getName().startsWith("ai.djl.")
                || block.getChildren().values().stream().anyMatch(TreeNode::mayHold);
    }

    private static boolean same(Block block, List<TreeNode> nodes) {
        List<Block> blocks = block.getChildren().values();
        if (blocks.size() != nodes.size()) {
            return false;
        }
        for (int i = 0; i < nodes.size(); i++) {
            if (blocks.get(i) != nodes.get(i).block() || !nodes.get(i).current()) {
                return false;
            }
        }
        return true;
    }

    /** Children one after another. */
    record Sequence(SequentialBlock block, List<TreeNode> children) implements TreeNode {

        @Override
        public NDList run(
                TreeCall call,
                NDList inputs,
                Needed needed,
                Optional<PairList<String, Object>> params) {
            boolean all = block.isReturnIntermediate();
            NDList past = new NDList();
            NDList current = inputs;
            for (TreeNode child : children) {
                List<NDArray> given = new ArrayList<>(current);
                Needed now = all ? needed.and(past) : needed;
                // DJL does not hand its parameters on here.
                current = child.run(call, current, now, Optional.empty());
                past.addAll(current);
                call.close(given, current, now);
            }
            return all ? past : current;
        }

        @Override
        public boolean current() {
            return same(block, children);
        }
    }

    /** Children side by side, and a function that makes one result of theirs. */
    record Branches(Block block, List<TreeNode> children, Function<List<NDList>, NDList> combine)
            implements TreeNode {

        @Override
        public NDList run(
                TreeCall call,
                NDList inputs,
                Needed needed,
                Optional<PairList<String, Object>> params) {
            List<NDArray> given = new ArrayList<>(inputs);
            List<NDList> results = new ArrayList<>();
            NDList produced = new NDList();
            for (int i = 0; i < children.size(); i++) {
                Needed now = needed.and(produced);
                boolean last = i == children.size() - 1;
                // Each gets a list of its own, as recurrent blocks add to it.
                NDList result =
                        children.get(i)
                                .run(call, new NDList(inputs), last ? now : now.and(given), params);
                results.add(result);
                produced.addAll(result);
            }
            call.close(given, produced, needed);
            NDList distinct = new NDList();
            for (NDArray array : produced) {
                if (!TreeCall.containsSame(distinct, array)) {
                    distinct.add(array);
                }
            }
            NDList outputs =
                    call.inScope(
                            distinct, () -> combine.apply(results), () -> Leaf.heldBy(combine));
            call.close(distinct, outputs, needed);
            return outputs;
        }

        @Override
        public boolean current() {
            return same(block, children);
        }
    }

    /** A block that is not looked into. */
    record Leaf(Block block, boolean mayHold) implements TreeNode {

        @Override
        public NDList run(
                TreeCall call,
                NDList inputs,
                Needed needed,
                Optional<PairList<String, Object>> params) {
            return call.inScope(
                    inputs,
                    () -> block.forward(call.store(), inputs, false, params.orElse(null)),
                    () -> mayHold ? heldBy(block) : Collections.emptySet());
        }

        @Override
        public boolean current() {
            return true;
        }

        private static Set<NDArray> heldBy(Object holder) {
            Set<NDArray> arrays = Collections.newSetFromMap(new IdentityHashMap<>());
            HeldObjects.replaceAll(
                    holder,
                    ImmutableList.of(),
                    object -> {
                        if (object instanceof NDArray array) {
                            arrays.add(array);
                        }
                        return object;
                    });
            return arrays;
        }
    }
}
