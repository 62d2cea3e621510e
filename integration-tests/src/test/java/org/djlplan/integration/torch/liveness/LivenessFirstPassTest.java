package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.norm.Dropout;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.djl.liveness.ArrayTypes;
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the memory and the side effects of the first pass for inputs of a new shape. */
@OnEveryDjlWhenLong
class LivenessFirstPassTest {

    private static final int ATTEMPTS = 5;
    private static final Shape SMALL = new Shape(1, 4096);
    private static final Shape LARGE = new Shape(1, 1 << 19);
    private static final Shape IMAGE = new Shape(1, 3, 64, 64);
    private static final int STEPS = 30;

    private static LivenessExecutor known(Sample sample) {
        return sample.executor(Liveness.OP);
    }

    private static LiveMeter.Reading planned(
            Sample sample, LivenessExecutor executor, NDManager manager, long batch) {
        NDList inputs = sample.inputs(manager, batch, 1);
        return LiveMeter.of(() -> sample.planned(executor, inputs));
    }

    private static LiveMeter.Reading stock(Sample sample, NDManager manager, long batch) {
        NDList inputs = sample.inputs(manager, batch, 1);
        return LiveMeter.of(() -> sample.stock(inputs));
    }

    private static NDArray manySteps(NDArray x) {
        NDArray y = x;
        for (int i = 0; i < STEPS; i++) {
            y = y.mul(0.5f).add(x);
        }
        return y;
    }

    /** A user's block that only computes. */
    private static final class ManySteps extends AbstractBlock {

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            return new NDList(manySteps(inputs.head()));
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputShapes) {
            return inputShapes;
        }
    }

    /** Returns a block of DJL's own blocks only. */
    private static SequentialBlock convolutions() {
        SequentialBlock block = new SequentialBlock();
        for (int i = 0; i < STEPS; i++) {
            block.add(
                            Conv2d.builder()
                                    .setFilters(4)
                                    .setKernelShape(new Shape(3, 3))
                                    .optPadding(new Shape(1, 1))
                                    .build())
                    .add(Activation.reluBlock());
        }
        return block;
    }

    @Test
    void op_otherShapes_goAlongTheFirstRecording() {
        try (Sample sample = new Sample(new ManySteps(), SMALL);
                NDManager manager = sample.newManager()) {
            LivenessExecutor executor = sample.trusting(Liveness.OP);
            sample.planned(executor, sample.inputs(manager, 3, 1));
            for (long batch : new long[] {7, 20, 2}) {
                NDList inputs = sample.inputs(manager, batch, 1);
                executor.prepare(sample.store(), inputs, null);
                assertFalse(executor.wantsRecording(ArrayTypes.of(inputs)));
                LiveMeter.Reading first = planned(sample, executor, manager, batch);
                LiveMeter.Reading second = planned(sample, executor, manager, batch);
                assertEquals(
                        Sample.bits(stock(sample, manager, batch).outputs()),
                        Sample.bits(first.outputs()));
                assertEquals(second.mostBytes(), first.mostBytes());
            }
            assertEquals(0, executor.divergences());
            assertEquals(0, executor.fallbacks());
        }
    }

    /** Returns blocks that behave differently from a batch of 5 on. */
    private static List<CodeBlock.Code> unlikeOthers() {
        return List.of(
                (self, store, inputs) -> {
                    // The number of arrays differs.
                    NDArray x = manySteps(inputs.head());
                    return new NDList(x.getShape().get(0) < 5 ? x.add(1) : x.add(1).mul(2).add(1));
                },
                (self, store, inputs) -> {
                    // A type differs.
                    NDArray x = inputs.head().mul(2);
                    return new NDList(
                            manySteps(
                                    x.getShape().get(0) < 5
                                            ? x.square()
                                            : x.toType(DataType.FLOAT64, true)));
                },
                (self, store, inputs) -> {
                    // A rank differs.
                    NDArray x = inputs.head().mul(2);
                    return new NDList(
                            manySteps(x.getShape().get(0) < 5 ? x.square() : x.expandDims(0)));
                });
    }

    @Test
    void op_otherShapesThatLeaveTheRecording_areRecordedThemselves() {
        for (CodeBlock.Code code : unlikeOthers()) {
            try (Sample sample = new Sample(new CodeBlock(code), SMALL);
                    NDManager manager = sample.newManager()) {
                LivenessExecutor executor = sample.trusting(Liveness.OP);
                sample.planned(executor, sample.inputs(manager, 3, 1));
                for (int run = 0; run < 3; run++) {
                    assertEquals(
                            Sample.bits(stock(sample, manager, 9).outputs()),
                            Sample.bits(planned(sample, executor, manager, 9).outputs()));
                }
                assertEquals(1, executor.divergences());
                assertEquals(0, executor.fallbacks());
                long stock = stock(sample, manager, 9).mostBytes();
                assertTrue(planned(sample, executor, manager, 9).mostBytes() < stock / 4);
            }
        }
    }

    /**
     * Returns a block in which large batches read an array at the end that small ones no longer
     * need; nothing else distinguishes the two.
     */
    private static Block lateUser() {
        return new CodeBlock(
                (self, store, inputs) -> {
                    NDArray x = inputs.head();
                    NDArray a = x.mul(2);
                    NDArray b = x.mul(3);
                    NDArray c = manySteps(a.add(b));
                    return new NDList(c.add(x.getShape().get(0) < 5 ? a : b));
                });
    }

    @Test
    void op_otherShapesThatNeedClosedArrays_areRepeatedAndRecorded() {
        try (Sample sample = new Sample(lateUser(), SMALL);
                NDManager manager = sample.newManager()) {
            LivenessExecutor executor = sample.trusting(Liveness.OP);
            sample.planned(executor, sample.inputs(manager, 3, 1));
            for (int run = 0; run < 3; run++) {
                assertEquals(
                        Sample.bits(stock(sample, manager, 9).outputs()),
                        Sample.bits(planned(sample, executor, manager, 9).outputs()));
            }
            assertEquals(1, executor.fallbacks());
            assertEquals(Liveness.OP, executor.mode());
            long stock = stock(sample, manager, 9).mostBytes();
            assertTrue(planned(sample, executor, manager, 9).mostBytes() < stock / 4);
        }
    }

    /** A recording that never fits is not tried forever. */
    @Test
    void op_shapesThatAreAllUnlike_stopBorrowing() {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head();
                            for (long i = x.getShape().get(0); i > 0; i--) {
                                x = x.add(1);
                            }
                            return new NDList(x.mul(2));
                        });
        try (Sample sample = new Sample(block, SMALL);
                NDManager manager = sample.newManager()) {
            LivenessExecutor executor = sample.trusting(Liveness.OP);
            for (long batch = 2; batch < 20; batch++) {
                for (int run = 0; run < 2; run++) {
                    assertEquals(
                            Sample.bits(stock(sample, manager, batch).outputs()),
                            Sample.bits(planned(sample, executor, manager, batch).outputs()));
                }
            }
            assertEquals(4, executor.divergences());
        }
    }

    @Test
    @Tag("long")
    void op_composite_needsHalfOfTheMemoryTheFirstTime() {
        try (Sample sample = new Sample(new ManySteps(), LARGE);
                NDManager manager = sample.newManager()) {
            LiveMeter.Reading stock = stock(sample, manager, 2);
            long leastBytes = Long.MAX_VALUE;
            // Repeats, because beside other work a garbage collection may take so long that there
            // is no second one.
            for (int i = 0; i < ATTEMPTS && leastBytes >= stock.mostBytes() / 2; i++) {
                LivenessExecutor executor = sample.trusting(Liveness.OP);
                LiveMeter.Reading first = planned(sample, executor, manager, 2);
                assertEquals(Sample.bits(stock.outputs()), Sample.bits(first.outputs()));
                // The block ran once.
                assertEquals(stock.created(), first.created());
                assertEquals(0, executor.fallbacks());
                leastBytes = Math.min(leastBytes, first.mostBytes());
            }
            assertTrue(leastBytes < stock.mostBytes() / 2, leastBytes + " of " + stock);
        }
    }

    @Test
    void op_sequenceOfFunctions_closesBetweenChildBlocksTheFirstTime() {
        SequentialBlock block = new SequentialBlock();
        for (int i = 0; i < STEPS; i++) {
            block.addSingleton(x -> x.mul(0.5f).add(1));
        }
        try (Sample sample = new Sample(block, SMALL);
                NDManager manager = sample.newManager()) {
            LiveMeter.Reading stock = stock(sample, manager, 2);
            LivenessExecutor executor = sample.trusting(Liveness.OP);
            LiveMeter.Reading first = planned(sample, executor, manager, 2);
            assertEquals(Sample.bits(stock.outputs()), Sample.bits(first.outputs()));
            assertTrue(first.mostBytes() < stock.mostBytes() / 4, first + " of " + stock);
            assertEquals(stock.created(), first.created());
        }
    }

    @Test
    void op_djlsOwnBlock_isTriedOnSmallInputsAndSettlesAtOnce() {
        try (Sample sample = new Sample(convolutions(), IMAGE);
                NDManager manager = sample.newManager()) {
            LiveMeter.Reading stock = stock(sample, manager, 8);
            LivenessExecutor executor = known(sample);
            NDList inputs = sample.inputs(manager, 8, 1);
            executor.prepare(sample.store(), inputs, null);
            assertFalse(executor.wantsRecording(ArrayTypes.of(inputs)));
            LiveMeter.Reading first = planned(sample, executor, manager, 8);
            assertEquals(Sample.bits(stock.outputs()), Sample.bits(first.outputs()));
            assertEquals(stock.created(), first.created());
            assertEquals(first.mostBytes(), planned(sample, executor, manager, 8).mostBytes());
            assertTrue(first.mostBytes() < stock.mostBytes() / 8);
            assertEquals(0, executor.divergences());
        }
    }

    @Test
    void prepare_userBlockWithinDjls_runsNothing() {
        CodeBlock user =
                new CodeBlock(
                        (self, store, inputs) -> {
                            self.calls++;
                            return new NDList(inputs.head().mul(2));
                        });
        SequentialBlock block = convolutions();
        try (Sample sample = new Sample(block, IMAGE);
                NDManager manager = sample.newManager()) {
            LivenessExecutor executor = known(sample);
            block.add(user);
            NDList inputs = sample.inputs(manager, 8, 1);
            executor.prepare(sample.store(), inputs, null);
            assertEquals(0, user.calls);
            assertTrue(executor.wantsRecording(ArrayTypes.of(inputs)));
        }
    }

    @Test
    void op_keepingBlockAddedAfterLoading_keepsItsArrayOpen() {
        SequentialBlock block = new SequentialBlock().addSingleton(x -> x.mul(0.5f).add(1));
        CodeBlock keeping =
                new CodeBlock(
                        (self, store, inputs) -> {
                            self.kept.clear();
                            self.kept.add(inputs.head().mul(3));
                            return new NDList(self.kept.head().add(1).mul(2));
                        });
        try (Sample sample = new Sample(block, SMALL);
                NDManager manager = sample.newManager()) {
            LivenessExecutor executor = known(sample);
            block.add(keeping).addSingleton(x -> x.mul(0.5f).add(1));
            planned(sample, executor, manager, 2);
            assertFalse(keeping.kept.head().isReleased());
        }
    }

    private static List<Float> drawnAfter(Supplier<Block> made, boolean planned) {
        Block block = made.get();
        try (Sample sample = new Sample(block, IMAGE);
                NDManager manager = sample.newManager()) {
            LivenessExecutor executor = sample.trusting(planned ? Liveness.OP : Liveness.OFF);
            Engine.getEngine(Sample.ENGINE).setRandomSeed(7);
            List<Float> drawn = new ArrayList<>();
            for (int run = 0; run < 3; run++) {
                NDList outputs = sample.planned(executor, sample.inputs(manager, 8, run));
                drawn.add(outputs.head().sum().getFloat());
                drawn.add(manager.randomUniform(0, 1, new Shape(1)).getFloat());
            }
            assertEquals(0, executor.divergences());
            return drawn;
        }
    }

    /**
     * The engine's random number generator is the only global state that such a block can change.
     */
    @Test
    void op_firstPasses_leaveTheGeneratorAsInDjl() {
        Supplier<Block> dropping =
                () -> {
                    Engine.getEngine(Sample.ENGINE).setRandomSeed(1);
                    return convolutions().add(Dropout.builder().optRate(0.5f).build());
                };
        assertEquals(drawnAfter(dropping, false), drawnAfter(dropping, true));
    }

    /** A trial draws no random numbers. */
    @Test
    void op_blockThatDrawsTakenForDjls_leavesTheGeneratorAsInDjl() {
        Supplier<Block> drawing =
                () ->
                        new CodeBlock(
                                (self, store, inputs) -> {
                                    NDArray x = inputs.head().mul(2);
                                    NDArray noise =
                                            x.getManager().randomUniform(0, 1, x.getShape());
                                    return new NDList(x.add(noise).mul(3));
                                });
        List<Float> expected = drawnAfter(drawing, false);
        assertNotEquals(expected.get(1), expected.get(3));
        assertEquals(expected, drawnAfter(drawing, true));
    }

    /** Objects can hold an array without its stand-in in these ways. */
    @Test
    void op_arraysHeldInOtherObjects_stayOpenTheFirstTime() {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head();
                            NDArrayEx methods = x.mul(2).getNDArrayInternal();
                            NDIndex rows =
                                    new NDIndex(
                                            "{}",
                                            x.getManager().arange(2).toType(DataType.INT64, true));
                            NDArray twice = x.get(rows).add(x.get(rows));
                            NDArray y = manySteps(x);
                            return new NDList(
                                    methods.relu(), twice.add(y), y.get(rows), x.get(rows).add(1));
                        });
        try (Sample sample = new Sample(block, LARGE);
                NDManager manager = sample.newManager()) {
            LiveMeter.Reading stock = stock(sample, manager, 2);
            LivenessExecutor executor = sample.trusting(Liveness.OP);
            LiveMeter.Reading first = planned(sample, executor, manager, 2);
            assertEquals(Sample.bits(stock.outputs()), Sample.bits(first.outputs()));
            assertTrue(first.mostBytes() < stock.mostBytes());
            assertEquals(0, executor.fallbacks());
            assertTrue(executor.closedEarly() > 0);
        }
    }
}
