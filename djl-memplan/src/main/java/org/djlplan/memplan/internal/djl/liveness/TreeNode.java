package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.util.PairList;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** A block in a tree of blocks, which closes its children's arrays early. */
sealed interface TreeNode {

    /**
     * Runs the block. The node may close its inputs, unless they are needed.
     *
     * @param params DJL's optional parameters
     */
    NDList run(
            TreePass pass, NDList inputs, Needed needed, Optional<PairList<String, Object>> params);

    /** Returns the node for a block. */
    static TreeNode of(Block block) {
        if (block instanceof SequentialBlock sequence && inherits(block, SequentialBlock.class)) {
            return new Sequence(sequence, children(block));
        }
        if (block instanceof ParallelBlock && inherits(block, ParallelBlock.class)) {
            Optional<Function<List<NDList>, NDList>> combine = combining((ParallelBlock) block);
            if (combine.isPresent()) {
                return new Branches(children(block), combine.get());
            }
        }
        return new Leaf(block);
    }

    /**
     * Returns the function by which a parallel block combines its branches, which is private in
     * DJL; empty if this version of DJL stores it elsewhere.
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

    /** Returns whether a subclass runs as its base class does. */
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

    /** Children one after another. */
    record Sequence(SequentialBlock block, List<TreeNode> children) implements TreeNode {

        @Override
        public NDList run(
                TreePass pass,
                NDList inputs,
                Needed needed,
                Optional<PairList<String, Object>> params) {
            boolean all = block.isReturnIntermediate();
            NDList past = new NDList();
            NDList current = inputs;
            for (TreeNode child : children) {
                List<NDArray> given = new ArrayList<>(current);
                Needed now = all ? needed.and(past) : needed;
                // DJL does not pass its parameters on here.
                current = child.run(pass, current, now, Optional.empty());
                past.addAll(current);
                pass.close(given, current, now);
            }
            return all ? past : current;
        }
    }

    /** Children side by side, and a function that combines their results. */
    record Branches(List<TreeNode> children, Function<List<NDList>, NDList> combine)
            implements TreeNode {

        @Override
        public NDList run(
                TreePass pass,
                NDList inputs,
                Needed needed,
                Optional<PairList<String, Object>> params) {
            List<NDArray> given = new ArrayList<>(inputs);
            List<NDList> results = new ArrayList<>();
            NDList produced = new NDList();
            for (int i = 0; i < children.size(); i++) {
                Needed now = needed.and(produced);
                boolean last = i == children.size() - 1;
                // Each branch gets its own list, because recurrent blocks add to it.
                NDList result =
                        children.get(i)
                                .run(pass, new NDList(inputs), last ? now : now.and(given), params);
                results.add(result);
                produced.addAll(result);
            }
            pass.close(given, produced, needed);
            NDList distinct = new NDList();
            for (NDArray array : produced) {
                if (!Needed.containsSame(distinct, array)) {
                    distinct.add(array);
                }
            }
            NDList outputs = pass.inScope(() -> combine.apply(results));
            pass.close(distinct, outputs, needed);
            return outputs;
        }
    }

    /** A block whose children are not examined. */
    record Leaf(Block block) implements TreeNode {

        @Override
        public NDList run(
                TreePass pass,
                NDList inputs,
                Needed needed,
                Optional<PairList<String, Object>> params) {
            return pass.inScope(
                    () -> block.forward(pass.store(), inputs, false, params.orElse(null)));
        }
    }
}
