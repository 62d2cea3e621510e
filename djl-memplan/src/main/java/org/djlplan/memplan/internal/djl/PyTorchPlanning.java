package org.djlplan.memplan.internal.djl;

import ai.djl.BaseModel;
import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.SymbolBlock;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.djl.liveness.DjlClasses;
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.djlplan.memplan.internal.gate.Gate;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.report.ReportSources;
import org.djlplan.memplan.internal.runtime.torch.StreamedWeights;
import org.djlplan.memplan.internal.runtime.torch.TorchAllocator;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.internal.runtime.torch.TorchSettings;
import org.djlplan.memplan.internal.runtime.torch.WeightFile;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Wraps the block of a PyTorch model so that it predicts in planned memory. */
final class PyTorchPlanning {

    private static final Logger logger = LoggerFactory.getLogger(PyTorchPlanning.class);

    private final PlanOptions options;
    private final Optional<DelegationProvider> provider;
    private final Optional<Progress> progress;

    /** Of the wrapped model. */
    private Optional<ModelRewriting> rewriting = Optional.empty();

    private Runnable afterRewriting = () -> {};

    /**
     * @param provider chooses how the model is rewritten; empty for not at all
     * @param progress shows how far the measurement for that is
     */
    PyTorchPlanning(
            PlanOptions options,
            Optional<DelegationProvider> provider,
            Optional<Progress> progress) {
        this.options = options;
        this.provider = provider;
        this.progress = progress;
    }

    /**
     * Plans a loaded model.
     *
     * @param early its weights, if they are already in a file
     * @return why it was left unplanned; empty if it is planned
     * @throws TranslateException if the model's budget cannot be met
     */
    Optional<String> plan(Model model, Optional<WeightFile> early) throws TranslateException {
        Block block = model.getBlock();
        if (block == null) {
            return Optional.of("it has no block");
        }
        Optional<String> problem = problem(model);
        if (problem.isEmpty()) {
            Optional<BudgetedWeights.Loaded> loaded = budgeted(model, block, early);
            replaceBlock(
                    model,
                    wrap(model, loaded.map(BudgetedWeights.Loaded::block).orElse(block), loaded));
            if (options.warmup().enabled()) {
                LoadTimePredictions.run(model, options.warmup().inputShapes());
            }
            startRewriting();
        }
        return problem;
    }

    /** Begins to rewrite the wrapped model, whose predictions are the application's from now on. */
    void startRewriting() {
        rewriting.ifPresent(each -> each.start(afterRewriting));
    }

    /**
     * Replaces a model's block. {@link Model#setBlock} also resets the state "loaded", so that
     * training would keep frozen parameters frozen; this method restores the state.
     */
    static void replaceBlock(Model model, Block block) {
        if (!(model instanceof BaseModel)) {
            model.setBlock(block);
            return;
        }
        try {
            Field loaded = BaseModel.class.getDeclaredField("wasLoaded");
            loaded.setAccessible(true);
            boolean before = loaded.getBoolean(model);
            model.setBlock(block);
            loaded.setBoolean(model, before);
        } catch (ReflectiveOperationException | RuntimeException e) {
            logger.debug("training will not unfreeze the parameters of {}", model.getName(), e);
            model.setBlock(block);
        }
    }

    /** Returns why a model cannot be planned; empty if it can. */
    static Optional<String> problem(Model model) {
        NDManager manager = model.getNDManager();
        return manager.getDevice().isGpu()
                ? Optional.of("it runs on " + manager.getDevice())
                : TorchAllocator.attach(manager.getEngine().getVersion());
    }

    /**
     * Returns the block and the weights of a model with a budget; without weights if the budget
     * cannot be met and is best-effort. A TorchScript model is loaded again if its weights are not
     * in a file yet; parameters of an imperative one are moved.
     *
     * @throws TranslateException if the budget must be met
     */
    private Optional<BudgetedWeights.Loaded> budgeted(
            Model model, Block block, Optional<WeightFile> early) throws TranslateException {
        if (!options.budget().limited()) {
            early.ifPresent(WeightFile::close);
            return Optional.empty();
        }
        try {
            if (isImperative(block)) {
                early.ifPresent(WeightFile::close);
                return Optional.of(BudgetedWeights.moved(model, block, options.budget()));
            }
            Path file =
                    PyTorchModelKey.file(model)
                            .orElseThrow(() -> new IOException("it was not loaded from a file"));
            if (early.isEmpty()) {
                BudgetedWeights.free(block);
            }
            return Optional.of(
                    BudgetedWeights.load(
                            model,
                            file,
                            early.map(weights -> new BudgetedWeights.Early(block, weights)),
                            options.budget()));
        } catch (IOException | RuntimeException e) {
            early.ifPresent(WeightFile::close);
            String problem = model.getName() + " is not held inside its budget: " + e.getMessage();
            if (!options.budget().bestEffort()) {
                throw new TranslateException(problem, e);
            }
            logger.warn(problem);
            return stock(model, block);
        }
    }

    /** Loads a TorchScript model again, because its own block may be closed. */
    private static Optional<BudgetedWeights.Loaded> stock(Model model, Block block)
            throws TranslateException {
        Optional<Path> file = PyTorchModelKey.file(model);
        if (isImperative(block) || file.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(BudgetedWeights.stock(model, file.get()));
        } catch (IOException e) {
            throw new TranslateException(e);
        }
    }

    /**
     * Loads a TorchScript file in a budget, and plans it.
     *
     * @throws IOException if it cannot be loaded
     */
    Block load(Model model, Path archive) throws IOException {
        BudgetedWeights.Loaded loaded =
                BudgetedWeights.load(model, archive, Optional.empty(), options.budget());
        return wrap(model, loaded.block(), Optional.of(loaded));
    }

    /**
     * Returns a block that does the same as {@code block}, in planned memory.
     *
     * @param loaded the block's weights, if they are in a file
     */
    Block wrap(Model model, Block block, Optional<BudgetedWeights.Loaded> loaded) {
        Optional<String> foreign =
                isImperative(block) ? DjlClasses.foreignCode(block) : Optional.empty();
        foreign.ifPresent(code -> rejectRepetition(model, code));
        Optional<LivenessExecutor> liveness =
                isImperative(block)
                        ? Optional.of(new LivenessExecutor(block, options.liveness(), foreign))
                        : Optional.empty();
        liveness.flatMap(executor -> executor.status().end())
                .ifPresent(reason -> announce(model, reason));
        Liveness mode = liveness.map(LivenessExecutor::mode).orElse(Liveness.OFF);
        Optional<StreamedWeights> weights =
                loaded.isPresent() ? loaded.get().weights() : Optional.empty();
        TorchMemory memory =
                new TorchMemory(
                        model.getName(), trace -> MemoryPlanner.plan(trace.problem()), weights);
        if (weights.isPresent()) {
            weights.get()
                    .keep(folder(model, block), CacheFolder.get(), key(model, block, mode, loaded));
        }
        ModelInUse use = new ModelInUse(model);
        use.attach("djl-plan-" + System.identityHashCode(memory), memory);
        Optional<RewrittenBlock> module = RewrittenBlock.of(model, block, use);
        prepareRewriting(model, loaded.isEmpty() ? module : Optional.empty(), memory);
        InferencePass stock =
                module.map(each -> each.serving(InferencePass.of(block)))
                        .orElseGet(() -> InferencePass.of(block));
        InferencePass forward =
                new PlannedForward(
                        stock,
                        liveness.filter(executor -> executor.mode() != Liveness.OFF),
                        memory);
        VerifiedForward.Status verification = new VerifiedForward.Status();
        InferencePass checked =
                options.verify()
                        ? new VerifiedForward(model.getName(), stock, forward, verification)
                        : forward;
        InferencePass placed =
                usesWorkers(foreign.isEmpty())
                        ? atGate(checked, memory, foreign.isEmpty())
                        : checked;
        InputLimit limit =
                new InputLimit(model.getName(), options.requests(), Optional.of(memory.needed()));
        InferencePass sampled = rewriting.map(each -> each.sampling(placed)).orElse(placed);
        InferencePass pass =
                use.guard(new PredictorForward(model.getName(), stock, sampled, memory, limit));
        Block planned =
                block.getClass() == SequentialBlock.class
                        ? new PlannedSequentialBlock((SequentialBlock) block, pass)
                        : BlockProxy.wrap(block, pass);
        ReportSources.register(
                planned,
                new TorchHandle(
                        memory,
                        limit,
                        weights,
                        liveness.map(LivenessExecutor::status),
                        rewriting.map(ModelRewriting::choice),
                        verification));
        return planned;
    }

    private void prepareRewriting(
            Model model, Optional<RewrittenBlock> module, TorchMemory memory) {
        afterRewriting = memory::forgetPlans;
        try {
            rewriting = ModelRewriting.of(model, module, options, provider, progress);
        } catch (UnusableOptionException e) {
            // DJL does not close the model.
            memory.close();
            throw e;
        }
    }

    /** Logs why intermediates of a block are left to DJL, unless the user asked for that. */
    private void announce(Model model, String reason) {
        if (options.liveness() == Liveness.AUTO) {
            logger.info("Intermediates of {} are left to DJL: {}", model.getName(), reason);
        } else if (options.liveness() == Liveness.OP) {
            logger.warn(
                    "Intermediates of {} are left to DJL whatever {} says: {}",
                    model.getName(),
                    OptionKey.LIVENESS.key(),
                    reason);
        }
    }

    /**
     * Rejects options that would run a user's block more than once.
     *
     * @throws IllegalArgumentException if there is one
     */
    private void rejectRepetition(Model model, String foreign) {
        if (options.verify() || options.warmup().enabled()) {
            throw new IllegalArgumentException(
                    (options.verify() ? OptionKey.VERIFY : OptionKey.WARMUP).key()
                            + "=true: runs a model more than once, which "
                            + model.getName()
                            + " is not known to allow: "
                            + foreign);
        }
    }

    /**
     * A user's block may depend on its thread, so its passes are handed over to another thread only
     * if the user allows it.
     */
    private boolean usesWorkers(boolean pure) {
        return !options.workers().isOff() && (pure || !options.workers().isAuto());
    }

    /**
     * Kernels keep buffers for each thread that ever ran them, so passes of a model with a budget,
     * which take turns anyway, run on one thread. Passes of a user's block always take one of the
     * workers' places, as the user's number of workers says.
     */
    private InferencePass atGate(InferencePass pass, TorchMemory memory, boolean known) {
        Gate gate = Gate.shared();
        return memory.streamsWeights()
                ? new WorkerForward(
                        pass,
                        gate.lane(1, PoolReport.Cause.ARENAS),
                        Optional.empty(),
                        gate::ownPlace,
                        true)
                : new WorkerForward(
                        pass,
                        gate.lane(),
                        known ? Optional.of(memory.needed()) : Optional.empty(),
                        () ->
                                gate.places(
                                        options.workers()
                                                .forThreads(TorchSettings.threadsBySetting())),
                        true);
    }

    private static boolean isImperative(Block block) {
        return !(block instanceof SymbolBlock);
    }

    /** The size of slices is part of the key, because a sliced layer makes other allocations. */
    private StoreKey key(
            Model model, Block block, Liveness mode, Optional<BudgetedWeights.Loaded> loaded) {
        StoreKey key = PyTorchModelKey.of(model, block, mode);
        long sliceBytes = loaded.map(BudgetedWeights.Loaded::sliceBytes).orElse(0L);
        return new StoreKey(
                key.model(),
                ImmutableMap.<String, String>builder()
                        .putAll(key.facts())
                        .put("sliceBytes", Long.toString(sliceBytes))
                        .buildOrThrow());
    }

    /** Returns the model's folder, or the cache if it has none. */
    private static Path folder(Model model, Block block) {
        boolean fromFiles = isImperative(block) || PyTorchModelKey.file(model).isPresent();
        return fromFiles && model.getModelPath() != null ? model.getModelPath() : CacheFolder.get();
    }
}
