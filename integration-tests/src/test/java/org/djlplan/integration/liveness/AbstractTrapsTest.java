package org.djlplan.integration.liveness;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.nn.recurrent.LSTM;
import ai.djl.util.NativeResource;
import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.memplan.config.Liveness;
import org.djlplan.memplan.djl.liveness.LivenessExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What user code may do to arrays in a forward pass, and that it gives what it gives in DJL. */
public abstract class AbstractTrapsTest {

    private static final Shape SHAPE = new Shape(1, 4096);
    private static final int RUNS = 4;

    /** Compares several passes with DJL's, and returns the executor. */
    private static LivenessExecutor assertSameBits(Block block, Liveness mode) {
        try (Sample sample = new Sample(block, SHAPE)) {
            LivenessExecutor executor = sample.executor(mode);
            assertSameBits(sample, executor);
            return executor;
        }
    }

    private static void assertSameBits(Sample sample, LivenessExecutor executor) {
        for (int run = 0; run < RUNS; run++) {
            List<List<Byte>> expected;
            try (NDManager manager = sample.newManager()) {
                expected = Sample.bits(sample.stock(sample.inputs(manager, 2, run)));
            }
            try (NDManager manager = sample.newManager()) {
                NDList outputs = sample.planned(executor, sample.inputs(manager, 2, run));
                assertEquals(expected, Sample.bits(outputs), "run " + run);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Liveness.class)
    void forward_viewOfDirectBuffer_keepsTheBuffer(Liveness mode) {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDManager manager = inputs.getManager();
                            NDArray view =
                                    manager.create(new float[1 << 20]).addi(3).reshape(1, -1);
                            NDArray result = inputs.head();
                            for (int i = 0; i < 5; i++) {
                                result = result.mul(2).add(1);
                                System.gc();
                                manager.zeros(new Shape(1 << 18));
                            }
                            return new NDList(result.add(view.get(":, :4096")));
                        });
        assertSameBits(new SequentialBlock().add(block).add(scaling()), mode);
    }

    @ParameterizedTest
    @EnumSource(Liveness.class)
    void forward_arrayKeptAcrossCalls_staysOpen(Liveness mode) {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head();
                            if (self.kept.isEmpty()) {
                                NDArray made = x.zerosLike().add(5).mul(2);
                                made.attach(store.getManager());
                                self.kept.add(made);
                            }
                            return new NDList(x.add(1).mul(self.kept.head()).add(2));
                        });
        LivenessExecutor executor = assertSameBits(block, mode);
        assertEquals(0, executor.fallbacks());
    }

    @ParameterizedTest
    @EnumSource(Liveness.class)
    void forward_arrayKeptInField_readableAfterwards(Liveness mode) {
        CodeBlock block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            self.kept.clear();
                            self.kept.add(inputs.head().mul(3));
                            return new NDList(self.kept.head().add(1).mul(2));
                        });
        try (Sample sample = new Sample(block, SHAPE)) {
            LivenessExecutor executor = sample.executor(mode);
            for (int run = 0; run < RUNS; run++) {
                try (NDManager manager = sample.newManager()) {
                    NDList inputs = sample.inputs(manager, 1, run);
                    sample.planned(executor, inputs);
                    assertArrayEquals(
                            inputs.head().mul(3).toFloatArray(), block.kept.head().toFloatArray());
                    assertTrue(block.kept.head() instanceof NativeResource);
                }
            }
        }
    }

    @Test
    void op_skipConnectionThroughField_closesWithoutFallback() {
        LivenessExecutor executor = assertSameBits(skipping(), Liveness.OP);
        assertEquals(Liveness.OP, executor.mode());
        assertEquals(0, executor.fallbacks());
        assertTrue(executor.closedEarly() > 0);
    }

    @Test
    void tree_skipConnectionThroughField_fallsBackOnce() {
        LivenessExecutor executor = assertSameBits(skipping(), Liveness.TREE);
        assertEquals(Liveness.OFF, executor.mode());
        assertEquals(1, executor.fallbacks());
    }

    private static Block skipping() {
        NDList skip = new NDList();
        return new SequentialBlock()
                .add(scaling())
                .add(
                        new CodeBlock(
                                (self, store, inputs) -> {
                                    skip.clear();
                                    skip.addAll(inputs);
                                    return new NDList(inputs.head().add(1));
                                }))
                .add(scaling())
                .add(
                        new CodeBlock(
                                (self, store, inputs) ->
                                        new NDList(inputs.head().add(skip.head()))));
    }

    private static Block scaling() {
        return new SequentialBlock().addSingleton(x -> x.mul(1.5f).add(0.5f).square());
    }

    @ParameterizedTest
    @EnumSource(Liveness.class)
    void forward_parallelLstms_eachHasItsOwnInputs(Liveness mode) {
        ParallelBlock block =
                new ParallelBlock(
                        results ->
                                new NDList(
                                        results.get(0).head().add(results.get(1).head()),
                                        results.get(0).head()));
        block.add(lstm()).add(lstm());
        try (Sample sample = new Sample(block, new Shape(1, 5, 6))) {
            LivenessExecutor executor = sample.executor(mode);
            assertSameBits(sample, executor);
            assertEquals(mode, executor.mode());
            assertEquals(0, executor.fallbacks());
        }
    }

    private static Block lstm() {
        return LSTM.builder().setStateSize(7).setNumLayers(1).optReturnState(false).build();
    }

    @Test
    void op_otherBranchWithSameTypes_isRepeatedUntilTheTreeTakesOver() {
        // The recorded branch uses a last, the other one b.
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head();
                            NDArray a = x.mul(2);
                            NDArray b = x.mul(3);
                            NDArray c = x.toFloatArray()[0] > 0 ? a.add(b) : b.sub(b);
                            NDArray d = c.add(1);
                            return new NDList(x.toFloatArray()[0] > 0 ? d.add(a) : d.add(b));
                        });
        try (Sample sample = new Sample(block, SHAPE)) {
            LivenessExecutor executor = sample.executor(Liveness.OP);
            for (int run = 0; run < 20; run++) {
                float sign = run % 2 == 0 ? 1 : -1;
                try (NDManager manager = sample.newManager()) {
                    NDList inputs = new NDList(manager.ones(SHAPE).mul(sign));
                    List<List<Byte>> expected = Sample.bits(sample.stock(inputs));
                    assertEquals(expected, Sample.bits(sample.planned(executor, inputs)));
                }
            }
            assertEquals(2, executor.fallbacks());
            assertEquals(Liveness.TREE, executor.mode());
        }
    }

    @Test
    void op_otherNumberOfOperations_stopsClosing() {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head().mul(2);
                            int count = inputs.head().toFloatArray()[0] > 0 ? 3 : 5;
                            for (int i = 0; i < count; i++) {
                                x = x.add(1);
                            }
                            return new NDList(x.reshape(-1).add(2));
                        });
        LivenessExecutor executor = assertSameBits(block, Liveness.OP);
        assertEquals(0, executor.fallbacks());
        assertEquals(Liveness.OP, executor.mode());
    }

    @Test
    void op_castToTheEnginesClass_leavesItToTheTree() {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head().mul(2).add(1);
                            assertTrue(((NativeResource<?>) x).getHandle() != null);
                            return new NDList(x.add(1));
                        });
        LivenessExecutor executor = assertSameBits(block, Liveness.OP);
        assertEquals(Liveness.TREE, executor.mode());
        assertEquals(1, executor.fallbacks());
    }

    @Test
    void op_severalThreadsInOnePass_leavesItToTheTree() {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head().mul(2);
                            List<NDArray> parts =
                                    IntStream.range(0, 8)
                                            .parallel()
                                            .mapToObj(i -> x.add(i).mul(2))
                                            .toList();
                            return new NDList(parts);
                        });
        LivenessExecutor executor = assertSameBits(block, Liveness.OP);
        assertEquals(Liveness.TREE, executor.mode());
    }

    @ParameterizedTest
    @EnumSource(Liveness.class)
    void forward_throwingBlock_throwsTheSame(Liveness mode) {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            if (inputs.head().add(1).toFloatArray().length > 4096) {
                                throw new UnsupportedOperationException("too long");
                            }
                            return new NDList(inputs.head().mul(2).add(1));
                        });
        try (Sample sample = new Sample(block, SHAPE);
                NDManager manager = sample.newManager()) {
            LivenessExecutor executor = sample.executor(mode);
            for (int run = 0; run < RUNS; run++) {
                assertThrows(
                        UnsupportedOperationException.class,
                        () -> sample.planned(executor, sample.inputs(manager, 2, 1)));
                sample.planned(executor, sample.inputs(manager, 1, 1));
            }
            assertEquals(mode, executor.mode());
            assertEquals(0, executor.fallbacks());
        }
    }

    @ParameterizedTest
    @EnumSource(Liveness.class)
    void forward_ownScope_isHonoured(Liveness mode) {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head().mul(2);
                            NDArray y;
                            try (NDScope scope = new NDScope()) {
                                scope.suppressNotUsedWarning();
                                y = x.add(1).mul(3);
                                NDScope.unregister(y);
                            }
                            return new NDList(y, x.add(2));
                        });
        assertSameBits(block, mode);
    }

    @ParameterizedTest
    @EnumSource(Liveness.class)
    void forward_ownManager_isHonoured(Liveness mode) {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head().mul(2);
                            try (NDManager own = x.getManager().newSubManager()) {
                                NDArray y = own.zeros(x.getShape()).add(x).add(1);
                                NDArray z = own.create(new float[4096]).add(y);
                                z.attach(x.getManager());
                                return new NDList(z, x.add(2));
                            }
                        });
        LivenessExecutor executor = assertSameBits(block, mode);
        assertEquals(0, executor.fallbacks());
    }

    @ParameterizedTest
    @EnumSource(Liveness.class)
    void forward_indicesOfArrays_giveTheSame(Liveness mode) {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head().mul(2);
                            NDArray mask = x.gt(0.5f);
                            NDArray rows = x.getManager().create(new long[] {1, 0});
                            NDArray y = x.get(new NDIndex("{}", rows)).add(1);
                            y.set(new NDIndex("0, 1:5"), 7);
                            y.set(x.lt(-1), 9);
                            return new NDList(x.get(mask), y, x.booleanMask(mask), y.argMax());
                        });
        assertSameBits(block, mode);
    }

    @Test
    void forward_inputChangedInPlace_isChangedOnceAndNothingClosed() {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head().mul(2).add(3);
                            inputs.head().reshape(-1).addi(1);
                            return new NDList(x.add(inputs.head()), inputs.head());
                        });
        LivenessExecutor executor = assertSameBits(block, Liveness.OP);
        assertEquals(0, executor.closedEarly());
        assertEquals(Liveness.OP, executor.mode());
    }

    @Test
    void op_unitsWithParameters_settlesAndKeepsClosing() {
        Block block =
                new SequentialBlock()
                        .add(Linear.builder().setUnits(16).build())
                        .add(scaling())
                        .add(Linear.builder().setUnits(4).build());
        try (Sample sample = new Sample(block, SHAPE);
                NDManager manager = sample.newManager()) {
            LivenessExecutor executor = sample.executor(Liveness.OP);
            NDList inputs = sample.inputs(manager, 3, 1);
            assertFalse(executor.settled(LivenessExecutor.types(inputs)));
            sample.planned(executor, inputs);
            assertTrue(executor.settled(LivenessExecutor.types(inputs)));
            long before = executor.closedEarly();
            sample.planned(executor, inputs);
            long closed = executor.closedEarly() - before;
            sample.planned(executor, inputs);
            assertTrue(closed > 0);
            assertEquals(2 * closed, executor.closedEarly() - before);
            assertSame(
                    executor.trace(LivenessExecutor.types(inputs)).orElseThrow(),
                    executor.trace(LivenessExecutor.types(inputs)).orElseThrow());
        }
    }
}
