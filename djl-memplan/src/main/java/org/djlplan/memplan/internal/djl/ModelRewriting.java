package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import ai.djl.util.Progress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.djl.liveness.ArrayTypes;
import org.djlplan.memplan.internal.measure.TorchDelegableModel;
import org.djlplan.memplan.internal.report.DelegationReportRecord;
import org.djlplan.memplan.internal.rewrite.ModuleInService;
import org.djlplan.memplan.internal.rewrite.ModuleInService.Runner;
import org.djlplan.memplan.internal.rewrite.Recipe;
import org.djlplan.memplan.internal.rewrite.SampleInputs;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.internal.rewrite.Sampling;
import org.djlplan.memplan.internal.rewrite.TorchScriptBlock;
import org.djlplan.memplan.internal.runtime.Later;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.internal.runtime.torch.TorchSettings;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rewriting of one TorchScript model. A stored choice is looked up when the model is loaded;
 * without one, candidates are measured with inputs of the first predictions. The chosen module
 * replaces the loaded one in the background.
 */
final class ModelRewriting implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(ModelRewriting.class);

    /** Candidates are measured after this many predictions, or after a while if they are rare. */
    private static final int ENOUGH_PREDICTIONS = 32;

    private static final Duration ENOUGH_TIME = Duration.ofSeconds(3);

    /** The fuser compiles in the second prediction of a shape. */
    private static final int WARM_UPS = 3;

    private static final String PROFILE = "delegation.profile";
    private static final String STOCK = "stock";
    private static final String BLOCK = "ai.djl.pytorch.engine.PtSymbolBlock";

    private final String name;
    private final NDManager manager;
    private final DelegationProvider provider;
    private final Map<String, String> options;
    private final Optional<Progress> progress;
    private final TorchMemory memory;
    private final TorchDelegableModel model;
    private final TorchScriptBlock loaded;
    private final ModuleInService module;
    private final TorchSettings settings = TorchSettings.current();
    private final Sampling sampling = new Sampling();

    /** Whether inputs of predictions are still copied. */
    private volatile boolean samples;

    private volatile Optional<DelegationChoice> choice = Optional.empty();

    /** Guarded by this. */
    private Optional<Choosing> choosing = Optional.empty();

    /** Guarded by this. */
    private Optional<ModuleRewriter> rewriter = Optional.empty();

    /** Written under the lock. */
    private volatile boolean closed;

    private ModelRewriting(
            Model model,
            Path file,
            Block block,
            PlanOptions options,
            DelegationProvider provider,
            Optional<Progress> progress,
            TorchMemory memory)
            throws ReflectiveOperationException {
        this.name = model.getName();
        this.manager = model.getNDManager();
        this.provider = provider;
        this.options = options.delegation();
        this.progress = progress;
        this.memory = memory;
        this.loaded = TorchScriptBlock.of(block);
        this.module = new ModuleInService(loaded);
        loaded.closeWith(this);
        this.model =
                new TorchDelegableModel(
                        file,
                        CacheFolder.get(),
                        settings.threads(),
                        model.getNDManager().getEngine().getVersion(),
                        SampledRequests.none());
    }

    /**
     * Returns the rewriting of a model, which must be {@linkplain #start started} once the model is
     * loaded; empty if its options or its engine do not allow that.
     *
     * @param block the engine's block
     * @param provider chooses; empty if nothing is to be chosen
     * @param memory of its predictions
     */
    static Optional<ModelRewriting> of(
            Model model,
            Block block,
            PlanOptions options,
            Optional<DelegationProvider> provider,
            Optional<Progress> progress,
            TorchMemory memory) {
        Optional<Path> file = PyTorchModelKey.file(model);
        if (provider.isEmpty()
                || !options.delegationEnabled()
                || file.isEmpty()
                || !block.getClass().getName().equals(BLOCK)) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new ModelRewriting(
                            model, file.get(), block, options, provider.get(), progress, memory));
        } catch (ReflectiveOperationException e) {
            logger.warn(
                    "{} is not rewritten, because the engine's block is not as expected: {}",
                    model.getName(),
                    e.toString());
            return Optional.empty();
        }
    }

    /**
     * Looks the stored choice up: now if the job is pinned to it, otherwise in the background.
     *
     * @throws org.djlplan.memplan.spi.UnusableOptionException if the job is pinned to a choice that
     *     is missing
     */
    void start() {
        if (isPinned()) {
            use(provider.choose(model, options, progress, later -> {}).first());
        } else if (isBlocking()) {
            samples = true;
        } else {
            inBackground(this::lookUp);
        }
    }

    private boolean isPinned() {
        return options.containsKey("delegation.profileFrom")
                || !options.getOrDefault("delegation.onMissing", "measure").equals("measure");
    }

    private boolean isBlocking() {
        return options.getOrDefault(PROFILE, "background").startsWith("blocking");
    }

    private void inBackground(Runnable work) {
        try {
            DaemonThreads.make(work, "djl-plan-rewrite").start();
        } catch (OutOfMemoryError e) {
            logger.debug("no thread can be started", e);
        }
    }

    private void lookUp() {
        try {
            lookUpStored();
        } catch (RuntimeException | LinkageError e) {
            logger.warn("{} is not rewritten", name, e);
        }
    }

    private void lookUpStored() {
        Map<String, String> stored = new TreeMap<>(options);
        stored.put(PROFILE, "off");
        DelegationChoice found =
                provider.choose(model, stored, Optional.empty(), later -> {}).first();
        if (found.origin() == Origin.STORED) {
            use(found);
        } else {
            samples = !options.getOrDefault(PROFILE, "").equals("off");
        }
    }

    /** Returns the block's pass with the current module. */
    InferencePass serving(InferencePass stock) {
        return (parameters, inputs, params) ->
                module.run(
                        () -> ArrayTypes.of(inputs),
                        () -> stock.forward(parameters, inputs, params));
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
        try {
            int predictions = sampling.add(ArrayTypes.of(inputs), inputs);
            if (isBlocking()) {
                choose();
            } else if (predictions == ENOUGH_PREDICTIONS) {
                inBackground(this::choose);
            } else if (predictions == 1) {
                boolean unused = Later.run(ENOUGH_TIME, () -> inBackground(this::choose));
            }
        } catch (RuntimeException e) {
            logger.debug("inputs of {} are not copied", name, e);
        }
    }

    private void choose() {
        synchronized (this) {
            if (!samples || closed) {
                return;
            }
            samples = false;
        }
        SampledRequests requests = sampling.take();
        if (requests.measured().isEmpty()) {
            return;
        }
        if (loaded.block().getParameters().values().stream()
                .filter(Parameter::isInitialized)
                .map(Parameter::getArray)
                .anyMatch(NDArray::hasGradient)) {
            choice = Optional.of(stock("its parameters are trainable, so it is not rewritten"));
            return;
        }
        TorchDelegableModel measured =
                new TorchDelegableModel(
                        model.file(),
                        model.cacheFolder(),
                        model.threads(),
                        model.libtorch(),
                        requests);
        Choosing started =
                provider.choose(measured, options, progress, better -> use(better, requests));
        synchronized (this) {
            choosing = Optional.of(started);
        }
        if (closed) {
            started.close();
        }
        use(started.first(), requests);
    }

    private DelegationChoice stock(String reason) {
        return new DelegationChoice(Candidate.cpu(model.threads()), Origin.UNVERIFIED, reason);
    }

    private void use(DelegationChoice chosen) {
        use(chosen, SampledRequests.none());
    }

    private synchronized void use(DelegationChoice chosen, SampledRequests requests) {
        if (closed) {
            return;
        }
        boolean same =
                choice.map(c -> c.candidate().recipe().equals(chosen.candidate().recipe()))
                        .orElse(chosen.candidate().isStock());
        if (same) {
            choice = Optional.of(chosen);
            return;
        }
        Optional<Recipe> recipe = Recipe.named(chosen.candidate().recipe());
        if (recipe.isEmpty() || choice.map(c -> !c.candidate().isStock()).orElse(false)) {
            // A rewritten module is not rewritten again while it serves; later loads use the
            // choice.
            return;
        }
        try {
            rewrite(recipe.get(), requests);
            choice = Optional.of(chosen);
            logger.info("{} is rewritten: {}", name, chosen.reason());
        } catch (Exception e) {
            logger.warn("{} is not rewritten: {}", name, e.toString());
            choice = Optional.of(stock(recipe.get() + " failed: " + e.getMessage()));
        }
    }

    private void rewrite(Recipe recipe, SampledRequests requests) throws Exception {
        TorchSettings before = TorchSettings.current();
        settings.withoutGradients().install();
        try {
            // Stays open with the model, whose predictions may need the fuser.
            ModuleRewriter opened = ModuleRewriter.open();
            rewriter = Optional.of(opened);
            module.rewrite(opened, recipe, (fresh, runner) -> warmUp(fresh, requests, runner));
            memory.forgetPlans();
        } finally {
            before.install();
        }
    }

    private void warmUp(TorchScriptBlock fresh, SampledRequests requests, Runner runner) {
        ParameterStore parameters = new ParameterStore(manager, false);
        for (int i = 0; i < WARM_UPS; i++) {
            for (Frequent each : requests.measured()) {
                try (NDManager scope = manager.newSubManager()) {
                    SampleInputs inputs = each.inputs();
                    NDList arrays = inputs.create(scope);
                    ImmutableList<ArrayType> types = ArrayTypes.of(arrays);
                    Object unused =
                            runner.run(
                                    types,
                                    () ->
                                            TorchMemory.runUnplanned(
                                                    () ->
                                                            fresh.block()
                                                                    .forward(
                                                                            parameters,
                                                                            arrays,
                                                                            false)));
                }
            }
        }
    }

    /** Returns the choice so far; empty if nothing is known yet. */
    Optional<DelegationReport> report() {
        return choice.map(
                chosen ->
                        new DelegationReportRecord(
                                chosen.candidate().isStock() ? STOCK : chosen.candidate().recipe(),
                                0,
                                0,
                                0,
                                chosen.candidate().threads(),
                                chosen.origin(),
                                chosen.reason(),
                                chosen.id("PyTorch " + model.libtorch(), model.delegate()),
                                List.copyOf(chosen.outputs())));
    }

    /** Cancels background work, waits until the module is not being rewritten, and deletes it. */
    @Override
    public void close() {
        closed = true;
        samples = false;
        synchronized (this) {
            choosing.ifPresent(Choosing::close);
            loaded.close();
            rewriter.ifPresent(ModuleRewriter::close);
        }
    }
}
