package org.djlplan.memplan.djl;

import ai.djl.util.Progress;
import ai.djl.util.Utils;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.measure.TfLiteDelegableModel;
import org.djlplan.memplan.runtime.tflite.Delegates;
import org.djlplan.memplan.runtime.tflite.DelegationSetup;
import org.djlplan.memplan.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.runtime.tflite.OrderedModel;
import org.djlplan.memplan.runtime.tflite.RuntimeOptions;
import org.djlplan.memplan.runtime.tflite.TfLiteRuntime;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationChoice.Origin;
import org.djlplan.memplan.spi.DelegationProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a provider what of one model is delegated, and hands later choices on to the model's
 * runtime.
 */
final class ModelDelegation implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(ModelDelegation.class);

    private final DelegationProvider provider;
    private final PlanOptions options;
    private final Optional<Progress> progress;
    private Optional<DelegationProvider.Choosing> choosing = Optional.empty();
    private Optional<TfLiteRuntime> runtime = Optional.empty();
    private Optional<DelegationChoice> early = Optional.empty();
    private boolean closed;

    ModelDelegation(DelegationProvider provider, PlanOptions options, Optional<Progress> progress) {
        this.provider = provider;
        this.options = options;
        this.progress = progress;
    }

    /** Returns the folder for what cannot be kept next to a model. */
    static Path cacheFolder() {
        return Utils.getCacheDir().resolve("djl-plan");
    }

    /** Returns what a runtime needs to delegate. */
    DelegationSetup of(OrderedModel file, RuntimeOptions runtimeOptions) {
        return new DelegationSetup(
                options.delegate(),
                Delegates.named(options.delegate()),
                graph -> first(file, graph, runtimeOptions));
    }

    private DelegationChoice first(OrderedModel file, Graph graph, RuntimeOptions runtimeOptions) {
        EngineLibrary library;
        try {
            library = EngineLibrary.loaded();
        } catch (UnplannableException e) {
            logger.warn("{}: nothing is delegated: {}", file.original(), e.getMessage());
            return new DelegationChoice(
                    Candidate.cpu(runtimeOptions.threads()), Origin.UNVERIFIED, e.getMessage());
        }
        TfLiteDelegableModel model =
                new TfLiteDelegableModel(
                        file, graph, options.delegate(), cacheFolder(), runtimeOptions, library);
        DelegationProvider.Choosing started =
                provider.choose(model, options.delegation(), progress, this::better);
        synchronized (this) {
            choosing = Optional.of(started);
        }
        return started.first();
    }

    /** Called on the provider's thread, perhaps before the runtime is there. */
    private void better(DelegationChoice choice) {
        Optional<TfLiteRuntime> now;
        synchronized (this) {
            now = closed ? Optional.empty() : runtime;
            early = runtime.isPresent() ? Optional.empty() : Optional.of(choice);
        }
        now.ifPresent(r -> r.switchTo(choice));
    }

    /** From now on, better choices go to this runtime. */
    void attach(TfLiteRuntime opened) {
        Optional<DelegationChoice> waiting;
        synchronized (this) {
            runtime = Optional.of(opened);
            waiting = early;
            early = Optional.empty();
        }
        waiting.ifPresent(opened::switchTo);
    }

    /** Ends what goes on in the background. */
    @Override
    public void close() {
        Optional<DelegationProvider.Choosing> started;
        synchronized (this) {
            closed = true;
            started = choosing;
            choosing = Optional.empty();
        }
        started.ifPresent(DelegationProvider.Choosing::close);
    }
}
