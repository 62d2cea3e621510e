package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.djlplan.cli.BlockGraphs;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.djlplan.memplan.internal.djl.liveness.RecordedBlocks;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Tests which manager owns which array after a pass, on one thread and on several. */
@OnEveryDjl
class LivenessOwnershipTest {

    private static final Shape SHAPE = new Shape(1, 256);
    private static final int THREADS = 4;
    private static final int PASSES = 25;

    private static Block dense() {
        return new SequentialBlock()
                .add(Linear.builder().setUnits(64).build())
                .addSingleton(x -> x.mul(2).add(1).square().sqrt())
                .add(Linear.builder().setUnits(8).build());
    }

    @ParameterizedTest
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
    void forward_outputsOfAllKinds_haveDjlsOwners(Liveness mode) {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head();
                            NDArray y = x.mul(2).add(1);
                            NDArray view = y.mul(3).reshape(-1).get("1:5");
                            return new NDList(x, y, y, view);
                        });
        try (Sample sample = new Sample(block, SHAPE)) {
            LivenessExecutor executor = sample.executor(mode);
            for (int run = 0; run < 4; run++) {
                try (NDManager manager = sample.newManager()) {
                    NDList inputs = sample.inputs(manager, 2, run);
                    List<List<Byte>> expected = Sample.bits(sample.stock(inputs));
                    NDList outputs = sample.planned(executor, inputs);
                    assertSame(inputs.head(), outputs.get(0));
                    assertSame(outputs.get(1), outputs.get(2));
                    assertEquals(expected, Sample.bits(outputs));
                    assertSame(manager, outputs.get(3).getManager());
                    assertSame(manager, inputs.head().getManager());
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
    void forward_arraysAttachedElsewhere_stayOpen(Liveness mode) {
        try (NDManager elsewhere = NDManager.newBaseManager(null, Sample.ENGINE)) {
            List<NDArray> attached = new ArrayList<>();
            // The list is not in the block, so only the manager shows the arrays' use.
            ThreadLocal<List<NDArray>> drop = ThreadLocal.withInitial(() -> attached);
            Block block =
                    new CodeBlock(
                            (self, store, inputs) -> {
                                NDArray x = inputs.head().mul(2);
                                NDArray moved = x.add(1);
                                moved.attach(elsewhere);
                                NDArray freed = x.add(2);
                                freed.detach();
                                drop.get().add(moved);
                                drop.get().add(freed);
                                return new NDList(x.mul(3).add(4));
                            });
            try (Sample sample = new Sample(block, SHAPE)) {
                LivenessExecutor executor = sample.executor(mode);
                for (int run = 0; run < 4; run++) {
                    attached.clear();
                    NDManager manager = sample.newManager();
                    NDList inputs = sample.inputs(manager, 1, run);
                    float[] expected = inputs.head().mul(2).toFloatArray();
                    sample.planned(executor, inputs);
                    manager.close();
                    assertEquals(expected[0] + 1, attached.get(0).toFloatArray()[0]);
                    assertEquals(expected[0] + 2, attached.get(1).toFloatArray()[0]);
                    attached.get(1).close();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
    void forward_inOuterScope_outputsCloseWithIt(Liveness mode) {
        try (Sample sample = new Sample(dense(), SHAPE);
                NDManager manager = sample.newManager()) {
            LivenessExecutor executor = sample.executor(mode);
            for (int run = 0; run < 3; run++) {
                NDList inputs = sample.inputs(manager, 1, run);
                NDList outputs;
                try (NDScope scope = new NDScope()) {
                    scope.suppressNotUsedWarning();
                    outputs = sample.planned(executor, inputs);
                    assertFalse(outputs.head().isReleased());
                }
                assertTrue(outputs.head().isReleased());
                assertFalse(inputs.head().isReleased());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Liveness.class, names = "AUTO", mode = Mode.EXCLUDE)
    void forward_severalThreads_sharedAndOwnInputs(Liveness mode) throws Exception {
        try (Sample sample = new Sample(dense(), SHAPE);
                NDManager shared = sample.newManager()) {
            LivenessExecutor executor = sample.executor(mode);
            NDList common = sample.inputs(shared, 2, 99);
            List<List<Byte>> expectedCommon = Sample.bits(sample.stock(common));
            ExecutorService pool = Executors.newFixedThreadPool(THREADS);
            List<Future<Boolean>> results = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                int first = thread * PASSES;
                results.add(
                        pool.submit(
                                () -> {
                                    for (int i = 0; i < PASSES; i++) {
                                        try (NDManager own = sample.newManager()) {
                                            NDList inputs =
                                                    sample.inputs(own, 1 + i % 3, first + i);
                                            assertEquals(
                                                    Sample.bits(sample.stock(inputs)),
                                                    Sample.bits(sample.planned(executor, inputs)));
                                        }
                                        assertEquals(
                                                expectedCommon,
                                                Sample.bits(sample.planned(executor, common)));
                                    }
                                    return true;
                                }));
            }
            for (Future<Boolean> result : results) {
                assertTrue(result.get());
            }
            pool.shutdown();
            assertEquals(0, executor.fallbacks());
            assertEquals(0, executor.divergences());
            assertEquals(mode, executor.mode());
        }
    }

    @Test
    void record_denseBlock_isAGraphThatCanBePlanned() {
        try (Sample sample = new Sample(dense(), SHAPE);
                NDManager manager = sample.newManager()) {
            ArrayType input = new ArrayType("float32", ImmutableList.of(16L, 256L));
            Graph graph =
                    BlockGraphs.of(
                            "dense",
                            RecordedBlocks.record(
                                    sample.block(), manager, ImmutableList.of(input)));
            assertEquals(
                    List.of("linear", "mul", "add", "square", "sqrt", "linear"),
                    graph.operators().stream().map(operator -> operator.type()).toList());
            assertEquals(1, graph.inputs().size());
            assertEquals(1, graph.outputs().size());
            // Two arrays of 16×64 floats are alive at a time.
            assertEquals(2 * 16 * 64 * 4, LowerBounds.offsetBytes(UsageRecords.of(graph)));
            assertArrayEquals(new NDArray[0], manager.getManagedArrays().toArray());
        }
    }
}
