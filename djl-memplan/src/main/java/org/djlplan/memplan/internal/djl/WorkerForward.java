package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDScope;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.gate.Gate;
import org.djlplan.memplan.internal.gate.Lane;
import org.djlplan.memplan.internal.gate.Places;
import org.djlplan.memplan.internal.runtime.NeededMemory;
import org.djlplan.memplan.internal.runtime.torch.TorchSettings;
import org.djlplan.thirdparty.guava.base.Suppliers;
import org.slf4j.MDC;

/**
 * Lets forward passes go through the {@link Gate}. A pass on another thread than its caller's gets
 * the caller's predictor call, context class loader and logging context, and in a PyTorch model the
 * caller's libtorch settings, as after the caller's first operator; its outputs belong to the
 * caller's {@link NDScope}.
 */
final class WorkerForward implements InferencePass {

    private final InferencePass inner;
    private final Lane lane;
    private final Optional<NeededMemory> needed;
    private final Supplier<Places> places;
    private final boolean hasSettings;

    /**
     * @param needed the memory of predictions; empty if all count as large
     * @param places called once, when the engine is loaded
     * @param hasSettings whether the engine is libtorch, which has settings of each thread
     */
    WorkerForward(
            InferencePass inner,
            Lane lane,
            Optional<NeededMemory> needed,
            Supplier<Places> places,
            boolean hasSettings) {
        this.inner = inner;
        this.lane = lane;
        this.needed = needed;
        this.places = Suppliers.memoize(places::get);
        this.hasSettings = hasSettings;
    }

    @Override
    public NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        Thread caller = Thread.currentThread();
        Supplier<NDList> pass = () -> inner.forward(parameters, inputs, params);
        boolean[] elsewhere = new boolean[1];
        NDList outputs =
                lane.run(
                        places.get(),
                        expectedBytes(inputs),
                        pass,
                        () -> {
                            // The pass may wait for long, and others may need this arena.
                            PredictionScope.finishPrevious();
                            return inContext(
                                    hasSettings
                                            ? Optional.of(TorchSettings.forWorker())
                                            : Optional.empty(),
                                    caller.getContextClassLoader(),
                                    MDC.getCopyOfContextMap(),
                                    PredictionScope.carried(
                                            () -> {
                                                elsewhere[0] = true;
                                                return pass.get();
                                            }));
                        });
        if (elsewhere[0]) {
            outputs.forEach(NDScope::register);
        }
        return outputs;
    }

    private long expectedBytes(NDList inputs) {
        return needed.isEmpty()
                ? Long.MAX_VALUE
                : needed.get().expectedBytes(ArraySizes.of(inputs).elements());
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
