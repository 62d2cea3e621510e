package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests models of both engines that share the workers. The predictions of a {@link DoingModel} are
 * large, because it is a user's block.
 */
@Timeout(120)
@OnEveryDjlWhenLong
class SeveralModelsTest {

    private static final int WORKERS = 2;
    private static final int CALLERS = 64;
    private static final int LIGHT_CALLERS = 8;
    private static final int CALLS = 20;

    /** A busy machine may run light predictions late. */
    private static final int MOST_CALLS = 50 * CALLS;

    private static final Map<String, Integer> OPTIONS =
            Map.of("memplan.threads", 1, "memplan.workers", WORKERS);

    @TempDir Path folder;

    private static <T> FutureTask<T> start(Callable<T> prediction) {
        FutureTask<T> task = new FutureTask<>(prediction);
        new Thread(task).start();
        return task;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Runs predictions while large ones have all places, and a further one waits for a place. */
    private static void whileLargeOnesAreBlocked(Callable<?> light) throws Exception {
        CountDownLatch began = new CountDownLatch(WORKERS);
        CountDownLatch release = new CountDownLatch(1);
        UnaryOperator<NDArray> work =
                x -> {
                    began.countDown();
                    await(release);
                    return x.add(1);
                };
        try (DoingModel<Float, Float> model = DoingModel.of(work, WORKERS)) {
            List<FutureTask<Float>> large = new ArrayList<>();
            for (int i = 0; i < WORKERS; i++) {
                large.add(start(() -> model.predict(1f)));
            }
            began.await();
            large.add(start(() -> model.predict(1f)));
            for (int i = 0; i < CALLS; i++) {
                Object unused = light.call();
            }
            for (FutureTask<Float> each : large) {
                assertFalse(each.isDone());
            }
            release.countDown();
            for (FutureTask<Float> each : large) {
                assertEquals(2f, each.get());
            }
        }
    }

    @Test
    void predict_lightPyTorchModelWhileLargeOnesAreBlocked_passes() throws Exception {
        TorchScriptModel script = TorchScriptModels.named("cnn");
        ModelInputs inputs = script.inputSets().get(0);
        List<Output> expected = Torch.stock(script.file(), inputs, 1).get(0);
        try (ZooModel<NDList, NDList> light = Torch.load(Torch.copy(script, folder), OPTIONS)) {
            // Until the first prediction has ended, it is unknown how much memory they need.
            assertEquals(expected, Torch.predict(light, inputs, 0));
            whileLargeOnesAreBlocked(
                    () -> {
                        assertEquals(expected, Torch.predict(light, inputs, 0));
                        return null;
                    });
        }
    }

    @Test
    void predict_lightTfLiteModelWhileLargeOnesAreBlocked_passes() throws Exception {
        Path file = TestModels.built("chains");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> light = Planned.load(file, OPTIONS)) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            List<ByteBuffer> expected = stock.run(inputs);
            List<List<Integer>> shapes = stock.shapes();
            assertEquals(expected, Planned.predict(light, inputs, shapes));
            whileLargeOnesAreBlocked(
                    () -> {
                        assertEquals(expected, Planned.predict(light, inputs, shapes));
                        return null;
                    });
        }
    }

    /**
     * Many callers of a large model, one caller of another large one, and some callers of a light
     * one.
     */
    @Test
    void predict_manyCallersOfALargeModel_othersTakeTurns() throws Exception {
        AtomicInteger before = new AtomicInteger();
        AtomicInteger overtaking = new AtomicInteger();
        AtomicInteger ofLight = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        int calls = 0;
        UnaryOperator<NDArray> large =
                x -> {
                    before.incrementAndGet();
                    LockSupport.parkNanos(2_000_000);
                    return x.add(1);
                };
        UnaryOperator<NDArray> other =
                x -> {
                    overtaking.addAndGet(before.get());
                    return x.add(1);
                };
        TorchScriptModel script = TorchScriptModels.named("cnn");
        ModelInputs inputs = script.inputSets().get(0);
        List<FutureTask<Void>> callers = new ArrayList<>();
        try (DoingModel<Float, Float> busy = DoingModel.of(large, WORKERS);
                DoingModel<Float, Float> lonely = DoingModel.of(other, WORKERS);
                ZooModel<NDList, NDList> light = Torch.load(Torch.copy(script, folder), OPTIONS)) {
            List<Output> expected = Torch.predict(light, inputs, 0);
            for (int i = 0; i < CALLERS; i++) {
                callers.add(start(() -> repeat(over, () -> busy.predict(1f))));
            }
            for (int i = 0; i < LIGHT_CALLERS; i++) {
                callers.add(
                        start(
                                () ->
                                        repeat(
                                                over,
                                                () -> {
                                                    assertEquals(
                                                            expected,
                                                            Torch.predict(light, inputs, 0));
                                                    return ofLight.incrementAndGet();
                                                })));
            }
            while (calls < CALLS || (ofLight.get() < CALLS && calls < MOST_CALLS)) {
                before.set(0);
                assertEquals(2f, lonely.predict(1f));
                calls++;
            }
            over.set(true);
            for (FutureTask<Void> each : callers) {
                each.get();
            }
        }
        // In order of arrival, nearly all of the 64 would be first.
        assertTrue(overtaking.get() <= CALLERS / 4 * calls, overtaking + " began first");
        assertTrue(ofLight.get() >= CALLS, ofLight + " light predictions");
    }

    private static Void repeat(AtomicBoolean over, Callable<?> prediction) throws Exception {
        while (!over.get()) {
            Object unused = prediction.call();
        }
        return null;
    }
}
