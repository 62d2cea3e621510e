package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.util.NativeResource;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.djl.liveness.ArrayTypes;
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.Test;

/** Tests blocks that cannot be recorded, or that deviate from their recording. */
@OnEveryDjl
class LivenessFallbackTest {

    private static final Shape SHAPE = new Shape(1, 4096);

    @Test
    void op_otherBranchWithSameTypes_isRepeatedUntilClosingStops() {
        // In the recorded branch, a is used last; in the other branch, b.
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
            LivenessExecutor executor = sample.trusting(Liveness.OP);
            for (int run = 0; run < 20; run++) {
                float sign = run % 2 == 0 ? 1 : -1;
                try (NDManager manager = sample.newManager()) {
                    NDList inputs = new NDList(manager.ones(SHAPE).mul(sign));
                    List<List<Byte>> expected = Sample.bits(sample.stock(inputs));
                    assertEquals(expected, Sample.bits(sample.planned(executor, inputs)));
                }
            }
            assertEquals(2, executor.fallbacks());
            assertEquals(Liveness.OFF, executor.mode());
        }
    }

    /** The number of operations depends on the size, so that no recording fits another size. */
    @Test
    void op_newSizesWithOtherOperations_recordsAFewPasses() {
        AtomicInteger recorded = new AtomicInteger();
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head();
                            recorded.addAndGet(Proxy.isProxyClass(x.getClass()) ? 1 : 0);
                            NDArray y = x.mul(2);
                            for (long i = x.getShape().get(1); i > 0; i--) {
                                y = y.add(1);
                            }
                            return new NDList(y.mul(2));
                        });
        try (Sample sample = new Sample(block, SHAPE)) {
            LivenessExecutor executor = sample.trusting(Liveness.OP);
            for (int round = 0; round < 2; round++) {
                recorded.set(0);
                for (int length = 1; length <= 200; length++) {
                    try (NDManager manager = sample.newManager()) {
                        NDList inputs = new NDList(manager.ones(new Shape(1, length)));
                        NDList outputs = sample.planned(executor, inputs);
                        assertEquals(2 * (2 + length), outputs.head().getFloat(0, 0));
                        assertTrue(round == 0 || !executor.wantsRecording(ArrayTypes.of(inputs)));
                    }
                }
                assertTrue(recorded.get() <= (round == 0 ? 32 : 0), recorded + " passes");
            }
            assertEquals(Liveness.OP, executor.mode());
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
        LivenessExecutor executor = Sample.assertSameBits(block, Liveness.OP);
        assertEquals(0, executor.fallbacks());
        assertEquals(Liveness.OP, executor.mode());
    }

    @Test
    void op_castToTheEnginesClass_closesNothing() {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head().mul(2).add(1);
                            assertTrue(((NativeResource<?>) x).getHandle() != null);
                            return new NDList(x.add(1));
                        });
        LivenessExecutor executor = Sample.assertSameBits(block, Liveness.OP);
        assertEquals(Liveness.OFF, executor.mode());
        assertEquals(1, executor.fallbacks());
    }

    @Test
    void op_severalThreadsInOnePass_closesNothing() {
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            NDArray x = inputs.head().mul(2);
                            NDArray y = CompletableFuture.supplyAsync(() -> x.add(1).mul(2)).join();
                            return new NDList(y.add(x));
                        });
        LivenessExecutor executor = Sample.assertSameBits(block, Liveness.OP);
        assertEquals(Liveness.OFF, executor.mode());
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
        LivenessExecutor executor = Sample.assertSameBits(block, Liveness.OP);
        assertEquals(0, executor.closedEarly());
        assertEquals(Liveness.OP, executor.mode());
    }

    @Test
    void op_unitsWithParameters_settlesAndKeepsClosing() {
        Block block =
                new SequentialBlock()
                        .add(Linear.builder().setUnits(16).build())
                        .addSingleton(x -> x.mul(1.5f).add(0.5f).square())
                        .add(Linear.builder().setUnits(4).build());
        try (Sample sample = new Sample(block, SHAPE);
                NDManager manager = sample.newManager()) {
            LivenessExecutor executor = sample.trusting(Liveness.OP);
            NDList inputs = sample.inputs(manager, 3, 1);
            assertTrue(executor.wantsRecording(ArrayTypes.of(inputs)));
            sample.planned(executor, inputs);
            assertFalse(executor.wantsRecording(ArrayTypes.of(inputs)));
            long before = executor.closedEarly();
            sample.planned(executor, inputs);
            long closed = executor.closedEarly() - before;
            sample.planned(executor, inputs);
            assertTrue(closed > 0);
            assertEquals(2 * closed, executor.closedEarly() - before);
        }
    }

    /** Counts how often a thread waits for the block. */
    private static final class CountingLock extends ReentrantReadWriteLock {

        private static final long serialVersionUID = 1;

        private final AtomicInteger waits = new AtomicInteger();
        private final WriteLock counting =
                new WriteLock(this) {

                    private static final long serialVersionUID = 1;

                    @Override
                    public boolean tryLock(long timeout, TimeUnit unit)
                            throws InterruptedException {
                        waits.incrementAndGet();
                        return super.tryLock(timeout, unit);
                    }
                };

        @Override
        public WriteLock writeLock() {
            return counting;
        }
    }

    private static CountingLock countWaits(LivenessExecutor executor)
            throws ReflectiveOperationException {
        Field operations = LivenessExecutor.class.getDeclaredField("operations");
        operations.setAccessible(true);
        Object level = operations.get(executor);
        Field lock = level.getClass().getDeclaredField("lock");
        lock.setAccessible(true);
        CountingLock counting = new CountingLock();
        lock.set(level, counting);
        return counting;
    }

    @Test
    void op_passRunsForLong_othersWaitForItOnce() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        AtomicBoolean stays = new AtomicBoolean();
        Block block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            if (stays.compareAndSet(true, false)) {
                                entered.countDown();
                                Uninterruptibles.awaitUninterruptibly(leave);
                            }
                            return new NDList(inputs.head().mul(2).add(1).mul(3));
                        });
        try (Sample sample = new Sample(block, SHAPE)) {
            LivenessExecutor executor = sample.trusting(Liveness.OP);
            CountingLock lock = countWaits(executor);
            predict(sample, executor, SHAPE);
            stays.set(true);
            CompletableFuture<Void> longOne =
                    CompletableFuture.runAsync(() -> predict(sample, executor, SHAPE));
            entered.await();
            for (int i = 0; i < 2; i++) {
                predict(sample, executor, new Shape(1, 1, 7));
                assertEquals(1, lock.waits.get());
            }
            leave.countDown();
            longOne.join();
            predict(sample, executor, new Shape(1, 1, 7));
            assertEquals(1, lock.waits.get());
        }
    }

    private static void predict(Sample sample, LivenessExecutor executor, Shape shape) {
        try (NDManager manager = sample.newManager()) {
            NDList inputs = new NDList(manager.ones(shape));
            List<List<Byte>> expected = Sample.bits(new NDList(manager.ones(shape).mul(9)));
            assertEquals(expected, Sample.bits(sample.planned(executor, inputs)));
        }
    }
}
