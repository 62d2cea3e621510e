package org.djlplan.memplan.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDScope;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.djlplan.memplan.config.WorkerCount;
import org.djlplan.memplan.runtime.Workers;
import org.djlplan.memplan.runtime.torch.TorchSettings;
import org.slf4j.MDC;

/**
 * Runs forward passes on one of few threads. A pass on another thread than its caller's gets the
 * caller's predictor call, libtorch settings, context class loader and logging context; its outputs
 * belong to the caller's {@link NDScope}.
 */
final class WorkerForward implements InferencePass {

    private final InferencePass inner;
    private final IntFunction<Workers> workers;

    /** Uses the workers that correspond to the engine's number of threads. */
    WorkerForward(InferencePass inner, WorkerCount count) {
        this(inner, threads -> Workers.of(count.forThreads(threads)));
    }

    /** Always uses the same workers. */
    WorkerForward(InferencePass inner, Workers workers) {
        this(inner, threads -> workers);
    }

    private WorkerForward(InferencePass inner, IntFunction<Workers> workers) {
        this.inner = inner;
        this.workers = workers;
    }

    @Override
    public NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        if (Workers.isRunning()) {
            return inner.forward(parameters, inputs, params);
        }
        TorchSettings settings = TorchSettings.current();
        Thread caller = Thread.currentThread();
        boolean[] elsewhere = new boolean[1];
        NDList outputs =
                workers.apply(settings.threads())
                        .run(
                                this,
                                () -> inner.forward(parameters, inputs, params),
                                () -> {
                                    elsewhere[0] = true;
                                    return inContext(
                                            settings,
                                            caller.getContextClassLoader(),
                                            MDC.getCopyOfContextMap(),
                                            PredictionScope.carried(
                                                    () ->
                                                            inner.forward(
                                                                    parameters, inputs, params)));
                                });
        if (elsewhere[0]) {
            outputs.forEach(NDScope::register);
        }
        return outputs;
    }

    private static void setDiagnostics(Map<String, String> diagnostics) {
        if (diagnostics == null) {
            MDC.clear();
        } else {
            MDC.setContextMap(diagnostics);
        }
    }

    private static <T> Supplier<T> inContext(
            TorchSettings settings,
            ClassLoader loader,
            Map<String, String> diagnostics,
            Supplier<T> pass) {
        return () -> {
            Thread thread = Thread.currentThread();
            ClassLoader own = thread.getContextClassLoader();
            Map<String, String> ownDiagnostics = MDC.getCopyOfContextMap();
            settings.install();
            thread.setContextClassLoader(loader);
            setDiagnostics(diagnostics);
            try {
                return pass.get();
            } finally {
                setDiagnostics(ownDiagnostics);
                thread.setContextClassLoader(own);
            }
        };
    }
}
