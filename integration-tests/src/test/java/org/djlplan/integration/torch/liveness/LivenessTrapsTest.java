package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
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
import ai.djl.nn.recurrent.LSTM;
import ai.djl.util.NativeResource;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Tests operations of user code on arrays during a forward pass: results equal DJL's. */
@OnEveryDjlWhenLong
class LivenessTrapsTest {

    private static final Shape SHAPE = new Shape(1, 4096);
    private static final int RUNS = 4;

    @ParameterizedTest
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
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
        Sample.assertSameBits(new SequentialBlock().add(block).add(scaling()), mode);
    }

    @ParameterizedTest
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
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
        try (Sample sample = new Sample(block, SHAPE)) {
            LivenessExecutor executor = sample.executor(mode);
            try (NDManager manager = sample.newManager()) {
                // The types are those of the inputs that follow, so this pass is recorded.
                sample.planned(executor, sample.inputs(manager, 2, 0));
            }
            sample.assertSameBits(executor);
            sample.assertSameBits(executor);
            assertEquals(0, executor.fallbacks());
            assertEquals(mode, executor.mode());
            assertEquals(mode != Liveness.OFF, executor.closedEarly() > 0);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
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
        LivenessExecutor executor = Sample.assertSameBits(skipping(), Liveness.OP);
        assertEquals(Liveness.OP, executor.mode());
        assertEquals(0, executor.fallbacks());
        assertTrue(executor.closedEarly() > 0);
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
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
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
            sample.assertSameBits(executor);
            assertEquals(mode, executor.mode());
            assertEquals(0, executor.fallbacks());
        }
    }

    private static Block lstm() {
        return LSTM.builder().setStateSize(7).setNumLayers(1).optReturnState(false).build();
    }

    @ParameterizedTest
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
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
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
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
        Sample.assertSameBits(block, mode);
    }

    @ParameterizedTest
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
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
        LivenessExecutor executor = Sample.assertSameBits(block, mode);
        assertEquals(0, executor.fallbacks());
    }

    @ParameterizedTest
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
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
        Sample.assertSameBits(block, mode);
    }
}
