package org.djlplan.memplan.internal.djl;

import ai.djl.util.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.measure.TfLiteDelegableModel;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.serving.ServedDelegation;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.spi.Tolerance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The delegation of one model: requests the initial choice from a provider, and passes better
 * choices on to the serving model.
 */
public final class ModelDelegation implements ServedDelegation {

    private static final Logger logger = LoggerFactory.getLogger(ModelDelegation.class);

    private final Path file;
    private final DelegationProvider provider;
    private final PlanOptions options;
    private final Optional<Progress> progress;
    private final String engine = nameOfEngine();

    /** Held while a choice is passed on, so that the latest one stays. */
    private final Object passing = new Object();

    private Optional<DelegationProvider.Choosing> choosing = Optional.empty();
    private Optional<ServedModel> served = Optional.empty();
    private Optional<DelegationChoice> early = Optional.empty();
    private Optional<DelegationAtShapes> atShapes = Optional.empty();

    /**
     * The mixes of other shapes at which results are stored; empty if none are delegated, or if the
     * model was not measured at the shapes in its file.
     */
    private Optional<List<ShapeMix>> stored = Optional.empty();

    ModelDelegation(
            Path file,
            DelegationProvider provider,
            PlanOptions options,
            Optional<Progress> progress) {
        this.file = file;
        this.provider = provider;
        this.options = options;
        this.progress = progress;
    }

    /**
     * Returns a model to be measured on the user's request, in the same way as a load with the same
     * options does. The engine must be loaded.
     *
     * @param file a {@code .tflite} model
     * @param options with which it will be loaded
     * @throws IOException if the file cannot be read or is no model
     * @throws UnplannableException if the engine cannot be used here
     */
    public static TfLiteDelegableModel measurable(Path file, PlanOptions options)
            throws IOException, UnplannableException {
        EngineLibrary library = EngineLibrary.loaded();
        String identity = FileIdentity.text(file);
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.getFileName().toString());
        return measurable(file, identity, graph, options, library);
    }

    private static TfLiteDelegableModel measurable(
            Path file, String identity, Graph graph, PlanOptions options, EngineLibrary library) {
        return new TfLiteDelegableModel(
                file, identity, graph, CacheFolder.get(), options, library, Optional.empty());
    }

    @Override
    public String name() {
        return options.delegate();
    }

    @Override
    public String engine() {
        return engine;
    }

    @Override
    public DelegateFactory delegates() {
        return Delegates.named(options.delegate());
    }

    private static String nameOfEngine() {
        try {
            return "TFLite " + EngineLibrary.loaded().version();
        } catch (UnplannableException e) {
            // A later warning names the problem.
            return "TFLite";
        }
    }

    @Override
    public DelegationChoice first(Graph graph, String identity) {
        EngineLibrary library;
        try {
            library = EngineLibrary.loaded();
        } catch (UnplannableException e) {
            logger.warn("{}: nothing is delegated: {}", file, e.getMessage());
            return new DelegationChoice(
                    Candidate.cpu(options.threads()), Origin.UNVERIFIED, e.getMessage());
        }
        TfLiteDelegableModel model = measurable(file, identity, graph, options, library);
        DelegationProvider.Choosing started =
                provider.choose(model, options.delegation(), progress, this::better);
        synchronized (this) {
            choosing = Optional.of(started);
        }
        if (model.takesOtherShapes()) {
            stored = Optional.of(provider.storedMixes(model, options.delegation()));
        }
        return started.first();
    }

    /**
     * Returns false also if results are stored only for the shapes in the file, because earlier
     * predictions then had no other shapes.
     */
    @Override
    public boolean expectsOtherShapes() {
        return stored.isPresent()
                && (!stored.get().isEmpty()
                        || firstChoice().map(c -> c.origin() != Origin.STORED).orElse(true));
    }

    private synchronized Optional<DelegationChoice> firstChoice() {
        return choosing.map(DelegationProvider.Choosing::first);
    }

    /** A model with a budget has no memory for its CPU kernels beside the delegate. */
    @Override
    public Optional<Tolerance> requestTolerance() {
        return options.budget().limited()
                ? Optional.empty()
                : Optional.of(provider.tolerance(options.delegation()));
    }

    @Override
    public void withdraw(String why) {
        Optional<DelegationProvider.Choosing> started;
        synchronized (this) {
            started = choosing;
        }
        started.ifPresent(each -> each.withdraw(why));
    }

    /** Called on the provider's thread, possibly before the model serves. */
    private void better(DelegationChoice choice) {
        synchronized (passing) {
            Optional<ServedModel> now;
            synchronized (this) {
                now = served;
                early = served.isPresent() ? Optional.empty() : Optional.of(choice);
            }
            now.ifPresent(r -> r.switchTo(choice));
        }
    }

    @Override
    public void attach(ServedModel model) {
        synchronized (passing) {
            Optional<DelegationChoice> waiting;
            synchronized (this) {
                served = Optional.of(model);
                waiting = early;
                early = Optional.empty();
            }
            waiting.ifPresent(model::switchTo);
        }
        if (!options.delegatesEveryShape()) {
            return;
        }
        try {
            TfLiteDelegableModel measured =
                    measurable(
                            file, model.identity(), model.graph(), options, EngineLibrary.loaded());
            if (measured.takesOtherShapes()) {
                DelegationAtShapes chooser =
                        new DelegationAtShapes(provider, options.delegation(), measured, model);
                synchronized (this) {
                    atShapes = Optional.of(chooser);
                }
                model.chooseOtherShapesWith(
                        chooser,
                        stored.orElseGet(
                                () -> provider.storedMixes(measured, options.delegation())));
            }
        } catch (UnplannableException e) {
            logger.debug("{} is not measured at other shapes", file, e);
        }
    }

    /** Returns whether no unverified background work is running. */
    @Override
    public boolean isSettled() {
        Optional<DelegationProvider.Choosing> inFile;
        Optional<DelegationAtShapes> elsewhere;
        synchronized (this) {
            inFile = choosing;
            elsewhere = atShapes;
        }
        return inFile.map(DelegationProvider.Choosing::isSettled).orElse(true)
                && elsewhere.map(DelegationAtShapes::isSettled).orElse(true);
    }

    @Override
    public void close() {
        Optional<DelegationProvider.Choosing> started;
        Optional<DelegationAtShapes> startedAtShapes;
        synchronized (this) {
            served = Optional.empty();
            started = choosing;
            startedAtShapes = atShapes;
            choosing = Optional.empty();
            atShapes = Optional.empty();
        }
        started.ifPresent(DelegationProvider.Choosing::close);
        startedAtShapes.ifPresent(DelegationAtShapes::close);
    }
}
