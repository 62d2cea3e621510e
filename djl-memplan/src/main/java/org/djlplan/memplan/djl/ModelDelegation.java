package org.djlplan.memplan.djl;

import ai.djl.util.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.measure.TfLiteDelegableModel;
import org.djlplan.memplan.runtime.tflite.Delegates;
import org.djlplan.memplan.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.serving.BudgetedKernels;
import org.djlplan.memplan.serving.ServedModel;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationChoice.Origin;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.store.CacheFolder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The delegation of one model: requests the initial choice from a provider, and passes better ones
 * on to the serving model.
 */
public final class ModelDelegation implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(ModelDelegation.class);

    private final DelegationProvider provider;
    private final PlanOptions options;
    private final Optional<Progress> progress;
    private Optional<DelegationProvider.Choosing> choosing = Optional.empty();
    private Optional<ServedModel> served = Optional.empty();
    private Optional<DelegationChoice> early = Optional.empty();
    private boolean closed;

    ModelDelegation(DelegationProvider provider, PlanOptions options, Optional<Progress> progress) {
        this.provider = provider;
        this.options = options;
        this.progress = progress;
    }

    /**
     * Returns a model to be measured on the user's request, as a load with the same options
     * measures it. The engine must be loaded.
     * @param file a {@code .tflite} model
     * @param options with which it will be loaded
     * @throws IOException if the file cannot be read or is no model
     * @throws UnplannableException if the engine cannot be used here
     */
    public static TfLiteDelegableModel measurable(Path file, PlanOptions options)
            throws IOException, UnplannableException {
        EngineLibrary library = EngineLibrary.loaded();
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.getFileName().toString());
        return measurable(file, graph, options, library);
    }

    private static TfLiteDelegableModel measurable(
            Path file, Graph graph, PlanOptions options, EngineLibrary library) {
        return new TfLiteDelegableModel(file, graph, CacheFolder.get(), options, library);
    }

    /** Returns the delegation settings of a served model. */
    ServedModel.Delegation of(Path file) {
        return new ServedModel.Delegation(
                options.delegate(),
                engine(),
                Delegates.named(options.delegate()),
                graph -> first(file, graph),
                true);
    }

    private static String engine() {
        try {
            return "TFLite " + EngineLibrary.loaded().version();
        } catch (UnplannableException e) {
            // It will be warned of.
            return "TFLite";
        }
    }

    /**
     * Returns the selection of operators for a streamed model: it runs in this process, so only for
     * a delegate that is part of the engine.
     */
    Optional<BudgetedKernels> insideBudget() {
        return provider.insideBudget(options.delegation())
                .filter(terms -> options.delegate().equals(Delegates.XNNPACK))
                .map(
                        terms ->
                                new BudgetedKernels(
                                        options.delegate(),
                                        Delegates.named(options.delegate()),
                                        terms,
                                        CacheFolder.get()));
    }

    private DelegationChoice first(Path file, Graph graph) {
        EngineLibrary library;
        try {
            library = EngineLibrary.loaded();
        } catch (UnplannableException e) {
            logger.warn("{}: nothing is delegated: {}", file, e.getMessage());
            return new DelegationChoice(
                    Candidate.cpu(options.threads()), Origin.UNVERIFIED, e.getMessage());
        }
        DelegationProvider.Choosing started =
                provider.choose(
                        measurable(file, graph, options, library),
                        options.delegation(),
                        progress,
                        this::better);
        synchronized (this) {
            choosing = Optional.of(started);
        }
        return started.first();
    }

    /** Called on the provider's thread, possibly before the model serves. */
    private void better(DelegationChoice choice) {
        Optional<ServedModel> now;
        synchronized (this) {
            now = closed ? Optional.empty() : served;
            early = served.isPresent() ? Optional.empty() : Optional.of(choice);
        }
        now.ifPresent(r -> r.switchTo(choice));
    }

    /** Passes better choices on to this model from now on. */
    void attach(ServedModel opened) {
        Optional<DelegationChoice> waiting;
        synchronized (this) {
            served = Optional.of(opened);
            waiting = early;
            early = Optional.empty();
        }
        waiting.ifPresent(opened::switchTo);
    }

    /** Returns whether no unverified background work is running. */
    synchronized boolean isSettled() {
        return choosing.map(DelegationProvider.Choosing::isSettled).orElse(true);
    }

    /** Cancels background work. */
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
