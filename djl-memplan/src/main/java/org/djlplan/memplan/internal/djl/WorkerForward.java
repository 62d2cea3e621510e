package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDScope;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.config.WorkerCount;
import org.djlplan.memplan.internal.runtime.Workers;
import org.djlplan.memplan.internal.runtime.torch.TorchSettings;
import org.djlplan.thirdparty.guava.base.Suppliers;
import org.slf4j.MDC;

/**
 * Runs forward passes on one of a few threads. A pass on another thread than its caller's gets the
 * caller's predictor call, context class loader and logging context, and in a PyTorch model the
 * caller's libtorch settings, as after the caller's first operator; its outputs belong to the
 * caller's {@link NDScope}.
 */
final class WorkerForward implements InferencePass {

    private final InferencePass inner;
    private final Supplier<Workers> workers;
    private final boolean hasSettings;

    /** Uses the workers that correspond to libtorch's number of threads. */
    WorkerForward(InferencePass inner, WorkerCount count) {
        this(inner, () -> Workers.of(count.forThreads(TorchSettings.threadsBySetting())), true);
    }

    /** Always uses the same workers for a PyTorch model. */
    WorkerForward(InferencePass inner, Workers workers) {
        this(inner, () -> workers, true);
    }

    private WorkerForward(InferencePass inner, Supplier<Workers> workers, boolean hasSettings) {
        this.inner = inner;
        // The engine may not be loaded yet.
        this.workers = Suppliers.memoize(workers::get);
        this.hasSettings = hasSettings;
    }

    /** Returns a pass for an engine without thread settings, whose number of threads is unknown. */
    static WorkerForward withoutSettings(InferencePass inner, WorkerCount count) {
        return new WorkerForward(inner, () -> Workers.of(count.forThreads(-1)), false);
    }

    @Override
    public NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        if (Workers.isRunning()) {
            return inner.forward(parameters, inputs, params);
        }
        Thread caller = Thread.currentThread();
        boolean[] elsewhere = new boolean[1];
        NDList outputs =
                workers.get()
                        .run(
                                this,
                                () -> inner.forward(parameters, inputs, params),
                                () -> {
                                    elsewhere[0] = true;
                                    // The pass may wait behind other passes that need this arena.
                                    PredictionScope.finishPrevious();
                                    return inContext(
                                            hasSettings
                                                    ? Optional.of(TorchSettings.forWorker())
                                                    : Optional.empty(),
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
            Optional<TorchSettings> settings,
            ClassLoader loader,
            Map<String, String> diagnostics,
            Supplier<T> pass) {
        return () -> {
            Thread thread = Thread.currentThread();
            ClassLoader own = thread.getContextClassLoader();
            Map<String, String> ownDiagnostics = MDC.getCopyOfContextMap();
            settings.ifPresent(TorchSettings::install);
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
