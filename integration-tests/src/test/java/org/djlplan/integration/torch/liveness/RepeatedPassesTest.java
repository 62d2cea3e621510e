package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.ParameterStore;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.Output;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests blocks that are taken for DJL's own and differ from their recording, which none of DJL's
 * does: passes are repeated as in DJL.
 */
@OnEveryDjlWhenLong
class RepeatedPassesTest {

    private static final int STEPS = 10;

    private static NDArray manySteps(NDArray x) {
        NDArray y = x;
        for (int i = 0; i < STEPS; i++) {
            y = y.mul(0.5f).add(x);
        }
        return y;
    }

    /** Returns blocks that behave differently from a batch of 5 on. */
    static Stream<CodeBlock.Code> unlikeOthers() {
        return Stream.of(
                (self, store, inputs) -> {
                    // The number of arrays differs.
                    NDArray x = manySteps(inputs.head());
                    return new NDList(x.getShape().get(0) < 5 ? x.add(1) : x.add(1).mul(2).add(1));
                },
                (self, store, inputs) -> {
                    // A type differs.
                    NDArray x = inputs.head().mul(2);
                    boolean few = x.getShape().get(0) < 5;
                    return new NDList(
                            manySteps(few ? x.square() : x.toType(DataType.FLOAT64, true)));
                },
                (self, store, inputs) -> {
                    // A rank differs.
                    NDArray x = inputs.head().mul(2);
                    boolean few = x.getShape().get(0) < 5;
                    return new NDList(manySteps(few ? x.square() : x.expandDims(0)));
                },
                (self, store, inputs) -> {
                    // Only the last use of an array differs.
                    NDArray a = inputs.head().mul(2);
                    NDArray b = inputs.head().mul(3);
                    NDArray c = manySteps(a.add(b));
                    return new NDList(c.add(a.getShape().get(0) < 5 ? a : b));
                },
                (self, store, inputs) -> {
                    // It depends on the content which array is used last.
                    NDArray a = inputs.head().mul(2);
                    NDArray b = inputs.head().mul(3);
                    boolean first = inputs.head().getFloat(0, 0) > 0;
                    NDArray c = (first ? a.add(b) : b.sub(b)).add(1);
                    return new NDList(c.add(first ? a : b));
                });
    }

    @ParameterizedTest
    @MethodSource("unlikeOthers")
    void forward_differsFromTheRecording_answersAsStock(CodeBlock.Code code) {
        Block block = new CodeBlock(code);
        try (Model model = Model.newInstance("repeated", "PyTorch")) {
            LivenessExecutor executor =
                    new LivenessExecutor(block, Liveness.AUTO, Optional.empty());
            ParameterStore store = new ParameterStore(model.getNDManager(), false);
            for (int call = 0; call < 20; call++) {
                try (NDManager manager = model.getNDManager().newSubManager()) {
                    Shape shape = new Shape(call % 4 == 3 ? 9 : 3, 64);
                    NDList inputs = new NDList(manager.full(shape, call % 2 == 0 ? 1f : -1f));
                    List<Output> expected =
                            Output.copyOf(block.forward(store, new NDList(inputs), false));
                    assertEquals(expected, Output.copyOf(executor.forward(store, inputs, null)));
                }
            }
        }
    }

    /** Such a network does not accept smaller inputs, so its first pass is recorded. */
    @Test
    void forward_sequenceOfFixedSize_closesBetweenItsBlocks() {
        SequentialBlock block = new SequentialBlock().add(Blocks.batchFlattenBlock());
        for (int i = 0; i < STEPS; i++) {
            block.add(Linear.builder().setUnits(64).build()).add(Activation.reluBlock());
        }
        try (Model model = Model.newInstance("fixed", "PyTorch")) {
            block.initialize(model.getNDManager(), DataType.FLOAT32, new Shape(1, 64));
            LivenessExecutor executor =
                    new LivenessExecutor(block, Liveness.AUTO, Optional.empty());
            ParameterStore store = new ParameterStore(model.getNDManager(), false);
            try (NDManager manager = model.getNDManager().newSubManager()) {
                NDList inputs = new NDList(manager.ones(new Shape(1, 64)));
                List<Output> expected = Output.copyOf(block.forward(store, inputs, false));
                int before = manager.getManagedArrays().size();
                NDList outputs = executor.forward(store, inputs, null);
                assertEquals(expected, Output.copyOf(outputs));
                int left = manager.getManagedArrays().size() - before;
                assertTrue(left <= 2, left + " arrays");
            }
        }
    }
}
