package org.djlplan.integration.torch.lifecycle;

import static org.djlplan.integration.torch.lifecycle.Callers.isWorker;
import static org.djlplan.integration.torch.lifecycle.Callers.onThread;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.metric.Metrics;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.translate.TranslateException;
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.BareTranslator;
import org.djlplan.integration.torch.TorchTests;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.spi.MDCAdapter;

/**
 * Tests which thread-local state a forward pass on a worker gets from its caller, and which state
 * it passes back.
 */
@Timeout(240)
@OnEveryDjl
class CallersContextTest implements TorchTests {

    @Test
    void predict_onAWorker_hasTheCallersContext() throws Exception {
        List<Object> seen = new ArrayList<>();
        UnaryOperator<NDArray> work =
                x -> {
                    seen.clear();
                    seen.add(isWorker(Thread.currentThread()));
                    seen.add(Thread.currentThread().getContextClassLoader());
                    seen.add(JniUtils.getNumThreads());
                    seen.add(JniUtils.isGradMode());
                    return x.add(1);
                };
        try (DoingModel<Float, Float> model = DoingModel.of(work, 1);
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

    /** The tests' logging has no diagnostic context, so this test sets an adapter that has one. */
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
                    seen.add(isWorker(Thread.currentThread()) + "");
                    seen.add(MDC.get("request"));
                    return x.add(1);
                };
        try (DoingModel<Float, Float> model = DoingModel.of(work, 1)) {
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

    /** DJL's engine switches gradients off only on the thread that initializes it. */
    @Test
    void predict_onAnotherThread_recordsNoGradientsUnlessAnInputNeedsThem() throws Exception {
        List<Boolean> recorded = new ArrayList<>();
        UnaryOperator<NDArray> work =
                x -> {
                    recorded.add(JniUtils.isGradMode());
                    return x.mul(3);
                };
        try (DoingModel<NDList, NDList> model =
                new DoingModel<>(work, new BareTranslator(), Map.of("memplan.workers", 0))) {
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

    @Test
    void predict_insideAnNdScope_outputsBelongToIt() throws Exception {
        try (DoingModel<NDList, NDList> model =
                new DoingModel<>(
                        x -> x.mul(3), new BareTranslator(), Map.of("memplan.workers", 1))) {
            onThread(() -> scoped(model));
            NDList outputs = scoped(model);
            assertTrue(outputs.head().isReleased());
            // Runs on a worker, because the main thread has the seat.
            NDList handedOver = onThread(() -> scoped(model));
            assertTrue(handedOver.head().isReleased());
        }
    }

    private static NDList scoped(DoingModel<NDList, NDList> model) throws TranslateException {
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

    @Test
    void predict_withMetrics_areTheCallers() throws Exception {
        try (DoingModel<Float, Float> model = DoingModel.of(x -> x.add(1), 1)) {
            assertEquals(2f, model.predict(1f));
            Metrics metrics = new Metrics();
            onThread(
                    () -> {
                        try (Predictor<Float, Float> predictor = model.newPredictor()) {
                            predictor.setMetrics(metrics);
                            return predictor.predict(2f);
                        }
                    });
            assertTrue(metrics.hasMetric("Inference"));
            assertTrue(metrics.hasMetric("UnplannedPredictions"));
        }
    }

    @Test
    void predict_afterTheCallerEnded_nothingOfItStays() throws Exception {
        try (DoingModel<Float, Float> model = DoingModel.of(x -> x.add(1), 1)) {
            assertEquals(2f, model.predict(1f));
            List<ClassLoader> left = new ArrayList<>();
            try (URLClassLoader loader = new URLClassLoader(new URL[0])) {
                onThread(
                        () -> {
                            Thread.currentThread().setContextClassLoader(loader);
                            return model.predict(1f);
                        });
                for (Thread thread : Thread.getAllStackTraces().keySet()) {
                    if (isWorker(thread)) {
                        left.add(thread.getContextClassLoader());
                    }
                }
                assertFalse(left.contains(loader));
            }
        }
    }
}
