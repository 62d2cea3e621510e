package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.util.PairList;
import ai.djl.util.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Future;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.djl.liveness.ArrayTypes;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.measure.TorchDelegableModel;
import org.djlplan.memplan.internal.rewrite.Recipe;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.internal.rewrite.Sampling;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rewriting of one TorchScript model. A stored choice is looked up when the model is loaded;
 * without one, candidates are measured with inputs of the first predictions. The chosen module
 * replaces the loaded one in the background.
 */
final class ModelRewriting implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(ModelRewriting.class);

    /**
     * Candidates are measured after this many predictions, or after a while if they are rare; but a
     * lower precision is always judged with this many.
     */
    private static final int ENOUGH_PREDICTIONS = SampledRequests.LEAST_COMPARED;

    private static final Duration ENOUGH_TIME = Duration.ofSeconds(3);

    private static final String PROFILE = "delegation.profile";

    private final String name;
    private final DelegationProvider provider;
    private final Map<String, String> options;
    private final Optional<Progress> progress;
    private final TorchDelegableModel model;
    private final RewrittenBlock block;
    private final Sampling sampling;

    /** Called after the module was replaced. */
    private volatile Runnable replaced = () -> {};

    /** Whether inputs of predictions are still copied. */
    private volatile boolean samples;

    private final RewriteChoice choice;

    /** Ends what is scheduled, or what is measured. Guarded by this. */
    private Runnable end = () -> {};

    private volatile boolean closed;

    private ModelRewriting(
            Model model,
            Path file,
            RewrittenBlock block,
            PlanOptions options,
            DelegationProvider provider,
            Optional<Progress> progress) {
        this.name = model.getName();
        this.provider = provider;
        this.options = options.delegation();
        this.progress = progress;
        this.block = block;
        this.sampling = new Sampling(options.permitsLowerPrecision());
        String libtorch = model.getNDManager().getEngine().getVersion();
        this.model =
                new TorchDelegableModel(
                        file,
                        FileIdentity.text(file),
                        CacheFolder.get(),
                        block.threads(),
                        libtorch,
                        SampledRequests.none());
        this.choice = new RewriteChoice(libtorch);
    }

    /**
     * Returns the rewriting of a model, which must be {@linkplain #start started} once the model is
     * loaded; empty if its options or its engine do not allow that. If the job is pinned to a
     * stored choice, the model is rewritten now.
     *
     * @param block the engine's block, if its module can be rewritten
     * @param provider chooses; empty if nothing is to be chosen
     * @throws org.djlplan.memplan.spi.UnusableOptionException if the job is pinned to a choice that
     *     is missing
     */
    static Optional<ModelRewriting> of(
            Model model,
            Optional<RewrittenBlock> block,
            PlanOptions options,
            Optional<DelegationProvider> provider,
            Optional<Progress> progress) {
        Optional<Path> file = PyTorchModelKey.file(model);
        if (provider.isEmpty()
                || !options.delegationEnabled()
                || file.isEmpty()
                || block.isEmpty()) {
            return Optional.empty();
        }
        ModelRewriting rewriting =
                new ModelRewriting(
                        model, file.get(), block.get(), options, provider.get(), progress);
        if (rewriting.isPinned()) {
            rewriting.usePinned();
        }
        block.get().closeWith(rewriting);
        return Optional.of(rewriting);
    }

    private boolean isPinned() {
        return options.containsKey("delegation.profileFrom")
                || !options.getOrDefault("delegation.onMissing", "measure").equals("measure");
    }

    private void usePinned() {
        use(provider.choose(model, options, progress, later -> {}).first(), SampledRequests.none());
    }

    /**
     * Looks the stored choice up, in the background.
     *
     * @param afterwards is called when the module was replaced
     */
    void start(Runnable afterwards) {
        replaced = afterwards;
        if (isPinned()) {
            return;
        }
        if (!isBlocking()) {
            inBackground(this::lookUp);
        } else if (sampling.copiesAll()) {
            lookUp();
        } else {
            samples = true;
        }
    }

    private boolean isBlocking() {
        return options.getOrDefault(PROFILE, "background").startsWith("blocking");
    }

    private void inBackground(Runnable work) {
        Runnable guarded =
                () -> {
                    try {
                        work.run();
                    } catch (RuntimeException | LinkageError e) {
                        // With the model, the application may have closed its class loader.
                        if (!closed) {
                            logger.warn("{} is not rewritten", name, e);
                        }
                    }
                };
        boolean unused = Later.start(guarded);
    }

    private void lookUp() {
        Map<String, String> stored = new TreeMap<>(options);
        stored.put(PROFILE, "off");
        DelegationChoice found =
                provider.choose(model, stored, Optional.empty(), later -> {}).first();
        if (found.origin() == Origin.STORED) {
            use(found, SampledRequests.none());
        }
        // Stock may have been chosen because the machine was busy; it may be quiet now.
        samples = found.candidate().isStock() && !options.getOrDefault(PROFILE, "").equals("off");
    }

    /** Returns a pass that copies inputs of the first predictions. */
    InferencePass sampling(InferencePass pass) {
        return (parameters, inputs, params) -> {
            if (samples) {
                sample(inputs, params);
            }
            return pass.forward(parameters, inputs, params);
        };
    }

    private void sample(NDList inputs, Optional<PairList<String, Object>> params) {
        if (params.isPresent() && !params.get().isEmpty()) {
            return;
        }
        int predictions;
        try {
            predictions = sampling.add(ArrayTypes.of(inputs), inputs);
        } catch (RuntimeException e) {
            // The engine reports what is wrong with them.
            logger.debug("inputs of {} are not copied", name, e);
            return;
        }
        boolean enough = predictions >= ENOUGH_PREDICTIONS;
        if (isBlocking()) {
            if (enough || !sampling.copiesAll()) {
                choose();
            }
        } else if (predictions == ENOUGH_PREDICTIONS) {
            inBackground(this::choose);
        } else if (predictions == 1 && !sampling.copiesAll()) {
            chooseLater();
        }
    }

    private synchronized void chooseLater() {
        if (samples) {
            Future<?> scheduled = Later.schedule(ENOUGH_TIME, () -> inBackground(this::choose));
            end = () -> scheduled.cancel(false);
        }
    }

    private void choose() {
        synchronized (this) {
            if (!samples || closed) {
                return;
            }
            samples = false;
            end.run();
        }
        SampledRequests requests = sampling.take();
        if (requests.measured().isEmpty()) {
            return;
        }
        if (block.isTrainable()) {
            choice.set(stock("its parameters are trainable, so it is not rewritten"));
            return;
        }
        Choosing started =
                provider.choose(
                        model.with(requests), options, progress, better -> use(better, requests));
        synchronized (this) {
            end = started::close;
        }
        if (closed) {
            started.close();
        }
        use(started.first(), requests);
    }

    private DelegationChoice stock(String reason) {
        return new DelegationChoice(Candidate.cpu(model.threads()), Origin.UNVERIFIED, reason);
    }

    /** A rewritten module is not rewritten again while it serves; later loads use the choice. */
    private synchronized void use(DelegationChoice chosen, SampledRequests requests) {
        if (closed || choice.isRewritten()) {
            return;
        }
        if (chosen.origin() == Origin.MEASURED) {
            // It would retain the inputs.
            end = () -> {};
        }
        Optional<Recipe> recipe = Recipe.named(chosen.candidate().recipe());
        if (recipe.isEmpty()) {
            choice.set(chosen);
            return;
        }
        try {
            requireMemory();
            block.rewrite(recipe.get(), requests);
            choice.set(chosen);
            replaced.run();
            logger.info("{} is rewritten: {}", name, chosen.reason());
        } catch (Exception e) {
            logger.warn("{} is not rewritten: {}", name, e.toString());
            choice.set(stock(recipe.get().name() + " failed: " + e.getMessage()));
        }
    }

    /** While both modules exist, the weights are in memory twice. */
    private void requireMemory() throws IOException {
        long needed = Files.size(model.file());
        long free = new Machine().memoryRoom().freeBytes();
        if (free < needed) {
            throw new IOException(
                    "%d MB of memory are left, a second copy of the weights takes %d"
                            .formatted(free >> 20, needed >> 20));
        }
    }

    /** Returns the choice, which does not retain the model. */
    RewriteChoice choice() {
        return choice;
    }

    /** Cancels background work, waits until the module is not being rewritten, and closes it. */
    @Override
    public void close() {
        closed = true;
        samples = false;
        synchronized (this) {
            end.run();
            block.close();
        }
    }
}
