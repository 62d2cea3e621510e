package org.djlplan.integration.torch.lifecycle;

import static org.djlplan.integration.torch.lifecycle.Callers.onThread;
import static org.djlplan.integration.torch.lifecycle.Callers.onThreads;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.TranslatorContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests predictions of many threads, whose forward passes run on few workers. */
@Timeout(240)
@OnEveryDjlWhenLong
class TorchWorkersTest {

    private static final int CALLERS = 16;
    private static final int CALLS = 20;

    @TempDir Path folder;

    private Runnable resetCache;

    @BeforeEach
    void oneThreadAndNoPlans() {
        Torch.threads(1);
        resetCache = Torch.useCache(folder);
    }

    @AfterEach
    void everythingIsFreed() {
        resetCache.run();
        Torch.assertNoArenas();
    }

    @Test
    void predict_manyCallers_sameAnswersAndEveryPredictionIsPlanned() throws Exception {
        TorchScriptModel script = TorchScriptModels.named("cnn");
        ModelInputs inputs = script.inputSets().get(0);
        List<List<Output>> expected = Torch.stock(script.file(), inputs, CALLS);
        try (ZooModel<NDList, NDList> model =
                Torch.load(Torch.copy(script, folder), Map.of("memplan.workers", 2))) {
            assertEquals(expected.get(0), Torch.predict(model, inputs, 0));
            List<Boolean> right =
                    onThreads(
                            CALLERS,
                            () -> {
                                Torch.threads(1);
                                for (int seed = 0; seed < CALLS; seed++) {
                                    assertEquals(
                                            expected.get(seed), Torch.predict(model, inputs, seed));
                                }
                                return true;
                            });
            assertEquals(CALLERS, right.size());
            PlanReport report = Torch.report(model);
            assertEquals(1 + CALLERS * CALLS, report.predictions().total());
            // The recorded prediction.
            assertEquals(0, report.predictions().unplanned(), report.toString());
            assertEquals(0, report.predictions().unplannedAllocations());
        }
    }

    /** Calls have several passes; the arena of an earlier pass must be available to others. */
    @Test
    void batchPredict_manyCallers_sameAnswersAndNoLongWaits() throws Exception {
        DoingModel.OneNumber large =
                new DoingModel.OneNumber() {
                    @Override
                    public NDList processInput(TranslatorContext context, Float input) {
                        return new NDList(
                                context.getNDManager().ones(new Shape(256, 256)).mul(input));
                    }

                    @Override
                    public Float processOutput(TranslatorContext context, NDList outputs) {
                        float result = outputs.head().getFloat(0, 0);
                        outputs.close();
                        return result;
                    }
                };
        long before = Waits.nanos(Waits.Lack.ARENAS);
        try (DoingModel<Float, Float> model =
                new DoingModel<>(x -> x.mul(2).add(1), large, Map.of("memplan.workers", 2))) {
            List<Float> inputs = List.of(1f, 2f, 3f, 4f);
            List<Float> expected = List.of(3f, 5f, 7f, 9f);
            onThreads(
                    CALLERS,
                    () -> {
                        try (Predictor<Float, Float> predictor = model.newPredictor()) {
                            for (int i = 0; i < CALLS; i++) {
                                assertEquals(expected, predictor.batchPredict(inputs));
                            }
                        }
                        return true;
                    });
        }
        long waited = Waits.nanos(Waits.Lack.ARENAS) - before;
        assertTrue(waited < ArenaPool.LONGEST_WAIT.toNanos(), () -> waited + " ns");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void predict_manyCallers_passesRunOnFewThreadsAndNotMoreAtOnce(int workers) throws Exception {
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        UnaryOperator<NDArray> work =
                x -> {
                    used.add(Thread.currentThread());
                    most.accumulateAndGet(now.incrementAndGet(), Math::max);
                    NDArray result = x.mul(2).add(1);
                    now.decrementAndGet();
                    return result;
                };
        try (DoingModel<Float, Float> model = DoingModel.of(work, workers)) {
            onThreads(
                    CALLERS,
                    () -> {
                        for (int i = 0; i < CALLS; i++) {
                            assertEquals(2f * i + 1, model.predict((float) i));
                        }
                        return true;
                    });
        }
        assertTrue(most.get() <= workers, most + " at once");
        long own = used.stream().filter(Callers::isWorker).count();
        assertTrue(own <= workers, used.toString());
    }

    @Test
    void predict_zeroWorkers_runsOnTheThreadThatCalls() throws Exception {
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        UnaryOperator<NDArray> work =
                x -> {
                    used.add(Thread.currentThread());
                    return x.add(1);
                };
        try (DoingModel<Float, Float> model = DoingModel.of(work, 0)) {
            onThreads(4, () -> model.predict(1f));
        }
        assertEquals(4, used.size());
    }

    /** It is unknown how the block uses its thread, so it runs on the thread that DJL uses. */
    @Test
    void predict_impureBlockByDefault_runsOnTheThreadThatCalls() throws Exception {
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        UnaryOperator<NDArray> work =
                x -> {
                    used.add(Thread.currentThread());
                    return x.add(1);
                };
        try (DoingModel<Float, Float> model =
                new DoingModel<>(work, new DoingModel.OneNumber(), Map.of())) {
            onThreads(4, () -> model.predict(1f));
        }
        assertEquals(4, used.size());
    }

    /** A virtual thread may continue on another native thread in the middle of a pass. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "Java 17 has no virtual threads")
    void predict_virtualThreads_runOnWorkersAndArePlanned() throws Exception {
        TorchScriptModel script = TorchScriptModels.named("cnn");
        ModelInputs inputs = script.inputSets().get(0);
        List<List<Output>> expected = Torch.stock(script.file(), inputs, CALLS);
        try (ZooModel<NDList, NDList> model =
                Torch.load(Torch.copy(script, folder), Map.of("memplan.workers", 2))) {
            assertEquals(expected.get(0), Torch.predict(model, inputs, 0));
            ExecutorService pool =
                    (ExecutorService)
                            Executors.class
                                    .getMethod("newVirtualThreadPerTaskExecutor")
                                    .invoke(null);
            List<Future<List<Output>>> running = new ArrayList<>();
            for (int seed = 0; seed < CALLS; seed++) {
                int own = seed;
                running.add(pool.submit(() -> Torch.predict(model, inputs, own)));
            }
            for (int seed = 0; seed < CALLS; seed++) {
                assertEquals(expected.get(seed), running.get(seed).get());
            }
            pool.shutdown();
            assertEquals(0, Torch.report(model).predictions().unplanned());
        }
    }

    /** One model predicts in the forward pass of another, with one worker for both. */
    @Test
    void predict_insideAForwardPass_endsAndIsRight() throws Exception {
        try (DoingModel<Float, Float> inner = DoingModel.of(x -> x.add(10), 1)) {
            UnaryOperator<NDArray> work =
                    x -> {
                        try {
                            return x.add(inner.predict(x.getFloat(0)));
                        } catch (TranslateException e) {
                            throw new AssertionError(e);
                        }
                    };
            try (DoingModel<Float, Float> outer = DoingModel.of(work, 1)) {
                List<Float> answers = onThreads(4, () -> outer.predict(1f));
                assertEquals(List.of(12f, 12f, 12f, 12f), answers);
            }
        }
    }

    @Test
    void predict_callerIsInterrupted_answersAndLeavesItInterrupted() throws Exception {
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        UnaryOperator<NDArray> work =
                x -> {
                    if (x.getFloat(0) > 1) {
                        began.countDown();
                        await(release);
                    }
                    return x.add(1);
                };
        try (DoingModel<Float, Float> model = DoingModel.of(work, 1)) {
            assertEquals(2f, model.predict(1f));
            FutureTask<Boolean> caller =
                    new FutureTask<>(
                            () ->
                                    model.predict(2f) == 3f
                                            && Thread.currentThread().isInterrupted());
            Thread thread = new Thread(caller);
            thread.start();
            began.await();
            thread.interrupt();
            release.countDown();
            assertTrue(caller.get());
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Every waiting caller gets an output or an exception; no caller waits forever. */
    @Test
    void close_whileCallersWait_allCallsEnd() throws Exception {
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger passes = new AtomicInteger();
        UnaryOperator<NDArray> work =
                x -> {
                    if (passes.incrementAndGet() == 1) {
                        began.countDown();
                        await(release);
                    }
                    return x.add(1);
                };
        DoingModel<Float, Float> model = DoingModel.of(work, 1);
        List<FutureTask<Object>> callers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            callers.add(
                    new FutureTask<>(
                            () -> {
                                try {
                                    return model.predict(1f);
                                } catch (TranslateException | IllegalStateException e) {
                                    return "closed";
                                }
                            }));
            new Thread(callers.get(i)).start();
        }
        began.await();
        model.close();
        release.countDown();
        for (FutureTask<Object> each : callers) {
            Object ended = each.get();
            assertTrue(ended.equals("closed") || ended.equals(2f), ended.toString());
        }
    }

    /** Counts the calls between pre-processing and post-processing. */
    private static final class Gated implements NoBatchifyTranslator<Float, Float> {

        private final AtomicInteger now = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();
        private final UnaryOperator<Float> before;

        Gated(UnaryOperator<Float> before) {
            this.before = before;
        }

        @Override
        public NDList processInput(TranslatorContext context, Float input) {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            try {
                return new NDList(context.getNDManager().create(before.apply(input)));
            } catch (RuntimeException e) {
                now.decrementAndGet();
                throw e;
            }
        }

        @Override
        public Float processOutput(TranslatorContext context, NDList outputs) {
            now.decrementAndGet();
            return outputs.head().getFloat();
        }
    }

    @Test
    void predict_withAGate_soManyAreUnderWayAndFailuresLeaveIt() throws Exception {
        Gated translator =
                new Gated(
                        input -> {
                            if (input < 0) {
                                throw new IllegalArgumentException("negative");
                            }
                            return input;
                        });
        try (DoingModel<Float, Float> model =
                new DoingModel<>(x -> x.add(1), translator, Map.of("memplan.maxPredictions", 2))) {
            onThreads(
                    CALLERS,
                    () -> {
                        for (int i = 0; i < CALLS; i++) {
                            assertEquals(2f, model.predict(1f));
                            assertThrows(TranslateException.class, () -> model.predict(-1f));
                        }
                        return true;
                    });
        }
        assertTrue(translator.most.get() <= 2, translator.most + " under way");
    }

    /** A call inside another call has already passed the gate. */
    @Test
    void predict_insideATranslatorWithAGate_ends() throws Exception {
        List<DoingModel<Float, Float>> self = new ArrayList<>();
        Gated translator =
                new Gated(
                        input -> {
                            try {
                                return input > 1 ? self.get(0).predict(input - 1) : input;
                            } catch (TranslateException e) {
                                throw new AssertionError(e);
                            }
                        });
        try (DoingModel<Float, Float> model =
                new DoingModel<>(x -> x.add(1), translator, Map.of("memplan.maxPredictions", 1))) {
            self.add(model);
            assertEquals(4f, model.predict(3f));
            assertEquals(List.of(4f, 4f), onThreads(2, () -> model.predict(3f)));
        }
    }

    @Test
    void predict_sameThreadEachTime_staysInPlace() throws Exception {
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        UnaryOperator<NDArray> work =
                x -> {
                    used.add(Thread.currentThread());
                    return x.add(1);
                };
        onThread(
                () -> {
                    try (DoingModel<Float, Float> model = DoingModel.of(work, 7)) {
                        for (int i = 0; i < CALLS; i++) {
                            assertEquals(2f, model.predict(1f));
                        }
                    }
                    assertSame(Thread.currentThread(), used.iterator().next());
                    return null;
                });
        assertEquals(1, used.size());
    }
}
