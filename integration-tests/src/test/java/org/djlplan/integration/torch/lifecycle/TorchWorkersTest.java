package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.metric.Metrics;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.training.ParameterStore;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import ai.djl.util.PairList;
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.BareTranslator;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
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
import org.slf4j.MDC;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.spi.MDCAdapter;

/** Predictions of many threads, whose forward passes run on few. */
@Timeout(240)
@OnEveryDjl
class TorchWorkersTest {

    private static final String WORKER = "djl-plan-worker-";
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

    /** A block that does what a test says, on whatever thread. */
    private static final class Doing extends AbstractBlock {

        private final UnaryOperator<NDArray> work;

        Doing(UnaryOperator<NDArray> work) {
            this.work = work;
        }

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            return new NDList(work.apply(inputs.head()));
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            return inputs;
        }
    }

    /** Takes and returns a number, so that nothing outlives the call. */
    private static final class OneNumber implements NoBatchifyTranslator<Float, Float> {

        @Override
        public NDList processInput(TranslatorContext context, Float input) {
            return new NDList(context.getNDManager().create(new float[] {input, 0}));
        }

        @Override
        public Float processOutput(TranslatorContext context, NDList outputs) {
            return outputs.head().getFloat(0);
        }
    }

    /** A model of a block, planned with a translator. */
    private static final class Loaded<I, O> implements AutoCloseable {

        private final Model model = Model.newInstance("doing", "PyTorch");
        private final Translator<I, O> translator;

        @SuppressWarnings("unchecked") // the factory translates whatever it is asked to
        Loaded(Block block, Translator<I, O> inner, Map<String, ?> options) throws Exception {
            model.setBlock(block);
            PlannedTranslatorFactory factory = PlannedTranslatorFactory.wrap(inner);
            for (Map.Entry<String, ?> option : options.entrySet()) {
                factory = factory.with(option.getKey(), option.getValue());
            }
            translator =
                    (Translator<I, O>)
                            factory.newInstance(Object.class, Object.class, model, Map.of());
        }

        O predict(I input) throws TranslateException {
            try (Predictor<I, O> predictor = model.newPredictor(translator)) {
                return predictor.predict(input);
            }
        }

        @Override
        public void close() {
            model.close();
        }
    }

    private static Loaded<Float, Float> doing(UnaryOperator<NDArray> work, int workers)
            throws Exception {
        return new Loaded<>(new Doing(work), new OneNumber(), Map.of("memplan.workers", workers));
    }

    private static <T> T onThread(Callable<T> task) throws Exception {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(future, "caller");
        thread.start();
        thread.join();
        return future.get();
    }

    private static <T> List<T> onThreads(int threads, Callable<T> task) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        CyclicBarrier start = new CyclicBarrier(threads);
        try {
            List<Future<T>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                running.add(
                        pool.submit(
                                () -> {
                                    start.await();
                                    return task.call();
                                }));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> each : running) {
                results.add(each.get());
            }
            return results;
        } finally {
            pool.shutdown();
        }
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
            // The one that was recorded.
            assertEquals(1, report.predictions().unplanned(), report.toString());
            assertEquals(0, report.predictions().unplannedAllocations());
        }
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
        try (Loaded<Float, Float> model = doing(work, workers)) {
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
        long own = used.stream().filter(thread -> thread.getName().startsWith(WORKER)).count();
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
        try (Loaded<Float, Float> model = doing(work, 0)) {
            onThreads(4, () -> model.predict(1f));
        }
        assertEquals(4, used.size());
    }

    /** What it does with its thread, nobody knows: it stays where DJL has it. */
    @Test
    void predict_impureBlockByDefault_runsOnTheThreadThatCalls() throws Exception {
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        UnaryOperator<NDArray> work =
                x -> {
                    used.add(Thread.currentThread());
                    return x.add(1);
                };
        try (Loaded<Float, Float> model =
                new Loaded<>(new Doing(work), new OneNumber(), Map.of())) {
            onThreads(4, () -> model.predict(1f));
        }
        assertEquals(4, used.size());
    }

    @Test
    void predict_onAWorker_hasTheCallersContext() throws Exception {
        List<Object> seen = new ArrayList<>();
        UnaryOperator<NDArray> work =
                x -> {
                    seen.clear();
                    seen.add(Thread.currentThread().getName().startsWith(WORKER));
                    seen.add(Thread.currentThread().getContextClassLoader());
                    seen.add(JniUtils.getNumThreads());
                    seen.add(JniUtils.isGradMode());
                    return x.add(1);
                };
        try (Loaded<Float, Float> model = doing(work, 1);
                URLClassLoader loader = new URLClassLoader(new URL[0])) {
            assertEquals(2f, model.predict(1f));
            assertEquals(false, seen.get(0));
            onThread(
                    () -> {
                        Thread.currentThread().setContextClassLoader(loader);
                        JniUtils.setNumThreads(3);
                        boolean records = JniUtils.isGradMode();
                        assertEquals(3f, model.predict(2f));
                        assertEquals(List.of(true, loader, 3, false), seen);
                        assertEquals(records, JniUtils.isGradMode());
                        JniUtils.setNumThreads(1);
                        assertEquals(4f, model.predict(3f));
                        assertEquals(List.of(true, loader, 1, false), seen);
                        return null;
                    });
        }
    }

    /** The binding of the tests keeps no diagnostic context, so it gets an adapter that does. */
    @Test
    void predict_onAWorker_logsWithTheCallersDiagnosticContext() throws Exception {
        Field adapter =
                Arrays.stream(MDC.class.getDeclaredFields())
                        .filter(field -> field.getType() == MDCAdapter.class)
                        .findFirst()
                        .orElseThrow();
        adapter.setAccessible(true);
        Object before = adapter.get(null);
        adapter.set(null, new BasicMDCAdapter());
        List<String> seen = new ArrayList<>();
        UnaryOperator<NDArray> work =
                x -> {
                    seen.add(Thread.currentThread().getName().startsWith(WORKER) + "");
                    seen.add(MDC.get("request"));
                    return x.add(1);
                };
        try (Loaded<Float, Float> model = doing(work, 1)) {
            assertEquals(2f, model.predict(1f));
            onThread(
                    () -> {
                        MDC.put("request", "seven");
                        return model.predict(1f);
                    });
            onThread(() -> model.predict(1f));
        } finally {
            adapter.set(null, before);
        }
        assertEquals(Arrays.asList("false", null, "true", "seven", "true", null), seen);
    }

    /** A virtual thread may go on with another native thread in the middle of a pass. */
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
            assertEquals(1, Torch.report(model).predictions().unplanned());
        }
    }

    /** DJL's engine switches gradients off on the thread that initialises it only. */
    @Test
    void predict_onAnotherThread_recordsNoGradientsUnlessAnInputNeedsThem() throws Exception {
        List<Boolean> recorded = new ArrayList<>();
        UnaryOperator<NDArray> work =
                x -> {
                    recorded.add(JniUtils.isGradMode());
                    return x.mul(3);
                };
        try (Loaded<NDList, NDList> model =
                new Loaded<>(new Doing(work), new BareTranslator(), Map.of("memplan.workers", 0))) {
            onThread(
                    () -> {
                        assertTrue(JniUtils.isGradMode());
                        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
                            NDArray plain = manager.ones(new Shape(2));
                            NDArray needed = manager.ones(new Shape(2));
                            needed.setRequiresGradient(true);
                            model.predict(new NDList(plain)).close();
                            model.predict(new NDList(needed)).close();
                        }
                        assertTrue(JniUtils.isGradMode());
                        return null;
                    });
        }
        assertEquals(List.of(false, true), recorded);
    }

    private static NDArray failing(NDArray x) {
        if (x.getFloat(0) > 1) {
            throw new IllegalStateException("as it should");
        }
        return x.add(1);
    }

    @Test
    void predict_exceptionOnAWorker_hasBothStacks() throws Exception {
        try (Loaded<Float, Float> model = doing(TorchWorkersTest::failing, 1)) {
            assertEquals(2f, model.predict(1f));
            Throwable cause =
                    onThread(
                            () ->
                                    assertThrows(TranslateException.class, () -> model.predict(2f))
                                            .getCause());
            assertEquals(IllegalStateException.class, cause.getClass());
            List<String> methods =
                    Arrays.stream(cause.getStackTrace())
                            .map(StackTraceElement::getMethodName)
                            .toList();
            assertEquals("failing", methods.get(0));
            assertTrue(methods.contains("batchPredict"), methods.toString());
            // The next one is served.
            assertEquals(1f, onThread(() -> model.predict(0f)));
        }
    }

    @Test
    void predict_insideAnNdScope_outputsBelongToIt() throws Exception {
        try (Loaded<NDList, NDList> model =
                new Loaded<>(
                        new Doing(x -> x.mul(3)),
                        new BareTranslator(),
                        Map.of("memplan.workers", 1))) {
            onThread(() -> scoped(model));
            NDList outputs = scoped(model);
            assertTrue(outputs.head().isReleased());
            // On a worker, as the main thread has the seat.
            NDList handedOver = onThread(() -> scoped(model));
            assertTrue(handedOver.head().isReleased());
        }
    }

    private static NDList scoped(Loaded<NDList, NDList> model) throws TranslateException {
        NDManager manager = NDManager.newBaseManager("PyTorch");
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            NDList outputs = model.predict(new NDList(manager.ones(new Shape(2))));
            assertFalse(outputs.head().isReleased());
            assertEquals(3f, outputs.head().getFloat(0));
            return outputs;
        } finally {
            manager.close();
        }
    }

    /** Of one model in the forward pass of another, with one worker for both. */
    @Test
    void predict_insideAForwardPass_endsAndIsRight() throws Exception {
        try (Loaded<Float, Float> inner = doing(x -> x.add(10), 1)) {
            UnaryOperator<NDArray> work =
                    x -> {
                        try {
                            return x.add(inner.predict(x.getFloat(0)));
                        } catch (TranslateException e) {
                            throw new AssertionError(e);
                        }
                    };
            try (Loaded<Float, Float> outer = doing(work, 1)) {
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
        try (Loaded<Float, Float> model = doing(work, 1)) {
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

    /** Whoever waits gets an answer or an exception, and none waits for ever. */
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
        Loaded<Float, Float> model = doing(work, 1);
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

    @Test
    void predict_withMetrics_areThoseOfTheCaller() throws Exception {
        try (Loaded<Float, Float> model = doing(x -> x.add(1), 1)) {
            assertEquals(2f, model.predict(1f));
            Metrics metrics = new Metrics();
            onThread(
                    () -> {
                        try (Predictor<Float, Float> predictor =
                                model.model.newPredictor(model.translator)) {
                            predictor.setMetrics(metrics);
                            return predictor.predict(2f);
                        }
                    });
            assertTrue(metrics.hasMetric("Inference"));
            assertTrue(metrics.hasMetric("UnplannedPredictions"));
        }
    }

    /** Counts how many of its calls are between their input and their output. */
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
        try (Loaded<Float, Float> model =
                new Loaded<>(
                        new Doing(x -> x.add(1)),
                        translator,
                        Map.of("memplan.maxPredictions", 2))) {
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

    /** A call in the middle of another one has passed the gate already. */
    @Test
    void predict_insideATranslatorWithAGate_ends() throws Exception {
        List<Loaded<Float, Float>> self = new ArrayList<>();
        Gated translator =
                new Gated(
                        input -> {
                            try {
                                return input > 1 ? self.get(0).predict(input - 1) : input;
                            } catch (TranslateException e) {
                                throw new AssertionError(e);
                            }
                        });
        try (Loaded<Float, Float> model =
                new Loaded<>(
                        new Doing(x -> x.add(1)),
                        translator,
                        Map.of("memplan.maxPredictions", 1))) {
            self.add(model);
            assertEquals(4f, model.predict(3f));
            assertEquals(List.of(4f, 4f), onThreads(2, () -> model.predict(3f)));
        }
    }

    @Test
    void predict_afterTheCallerEnded_nothingOfItStays() throws Exception {
        try (Loaded<Float, Float> model = doing(x -> x.add(1), 1)) {
            assertEquals(2f, model.predict(1f));
            List<ClassLoader> left = new ArrayList<>();
            try (URLClassLoader loader = new URLClassLoader(new URL[0])) {
                onThread(
                        () -> {
                            Thread.currentThread().setContextClassLoader(loader);
                            return model.predict(1f);
                        });
                for (Thread thread : Thread.getAllStackTraces().keySet()) {
                    if (thread.getName().startsWith(WORKER)) {
                        left.add(thread.getContextClassLoader());
                    }
                }
                assertFalse(left.contains(loader));
            }
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
                    try (Loaded<Float, Float> model = doing(work, 7)) {
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
