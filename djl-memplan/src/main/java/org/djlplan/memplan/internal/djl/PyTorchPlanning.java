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
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.djlplan.memplan.internal.djl.purity.BlockCode;
import org.djlplan.memplan.internal.djl.purity.Finding;
import org.djlplan.memplan.internal.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.internal.plan.portfolio.Strategies;
import org.djlplan.memplan.internal.report.ReportSources;
import org.djlplan.memplan.internal.runtime.Workers;
import org.djlplan.memplan.internal.runtime.torch.StreamedWeights;
import org.djlplan.memplan.internal.runtime.torch.TorchAllocator;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.internal.runtime.torch.WeightFile;
import org.djlplan.memplan.internal.store.BackgroundStore;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.store.WeightTraceCodec;
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
        return wrap(
                model, BudgetedWeights.load(model, archive, Optional.empty(), options.budget()));
    }

    private Block wrap(Model model, BudgetedWeights.Loaded loaded) {
        return wrap(model, loaded.block(), Optional.of(loaded));
    }

    /**
     * Returns a block that does the same as {@code block}, in planned memory.
     *
     * @param loaded the block's weights, if they are in a file
     */
    Block wrap(Model model, Block block, Optional<BudgetedWeights.Loaded> loaded) {
        Optional<BlockCode> code =
                isImperative(block) && dependsOnCode()
                        ? Optional.of(BlockCode.look(block))
                        : Optional.empty();
        Liveness mode =
                code.isPresent()
                        ? LivenessExecutor.effective(options.liveness(), code.get())
                        : Liveness.OFF;
        if (code.isPresent() && !code.get().pure()) {
            refuse(model, code.get(), mode);
        }
        Optional<StreamedWeights> weights =
                loaded.isPresent() ? loaded.get().weights() : Optional.empty();
        TorchMemory memory =
                new TorchMemory(
                        model.getName(),
                        options.workers(),
                        trace -> MemoryPlanner.plan(trace.problem(), Strategies.BEST),
                        weights);
        if (weights.isPresent()) {
            weights.get()
                    .keep(
                            new BackgroundStore<>(
                                    FolderStore.at(
                                            new WeightTraceCodec(),
                                            folder(model, block),
                                            CacheFolder.get())),
                            key(model, block, code, mode, loaded));
        }
        model.getNDManager().attachInternal("djl-plan-" + System.identityHashCode(memory), memory);
        if (loaded.isEmpty() && !isImperative(block)) {
            prepareRewriting(model, block, memory);
        }
        Optional<LivenessExecutor> liveness =
                code.isPresent() && mode != Liveness.OFF
                        ? Optional.of(new LivenessExecutor(block, mode, code.get()))
                        : Optional.empty();
        InferencePass stock =
                rewriting
                        .map(each -> each.serving(InferencePass.of(block)))
                        .orElseGet(() -> InferencePass.of(block));
        InferencePass forward = new PlannedForward(stock, liveness, memory);
        InferencePass checked =
                options.verify() ? new VerifiedForward(model.getName(), stock, forward) : forward;
        InferencePass placed =
                usesWorkers(code, isImperative(block))
                        ? onWorkers(checked, weights.isPresent())
                        : checked;
        InputLimit limit = new InputLimit(model.getName());
        InferencePass sampled = rewriting.map(each -> each.sampling(placed)).orElse(placed);
        InferencePass pass = new PredictorForward(model.getName(), stock, sampled, memory, limit);
        Block planned =
                block.getClass() == SequentialBlock.class
                        ? new PlannedSequentialBlock((SequentialBlock) block, pass)
                        : BlockProxy.wrap(block, pass);
        ReportSources.register(planned, new TorchHandle(memory, limit, weights, rewriting));
        return planned;
    }

    private void prepareRewriting(Model model, Block block, TorchMemory memory) {
        afterRewriting = memory::forgetPlans;
        try {
            rewriting = ModelRewriting.of(model, block, options, provider, progress);
        } catch (UnusableOptionException e) {
            // DJL does not close the model.
            memory.close();
            throw e;
        }
    }

    /**
     * Logs which features a block without known purity does not get.
     *
     * @throws IllegalArgumentException if an option would run it more than once
     */
    private void refuse(Model model, BlockCode code, Liveness mode) {
        Finding reason = code.impurity().orElseThrow();
        if (options.verify() || options.warmup().enabled()) {
            throw new IllegalArgumentException(
                    (options.verify() ? OptionKey.VERIFY : OptionKey.WARMUP).key()
                            + "=true: runs a model more than once, which "
                            + model.getName()
                            + " is not known to allow: "
                            + reason);
        }
        if (options.liveness() == Liveness.AUTO) {
            logger.info(
                    "Intermediates of {} are left to DJL, because it is not known to be "
                            + "pure: {}",
                    model.getName(),
                    reason);
        } else if (mode != options.liveness()) {
            logger.warn(
                    "Intermediates of {} are left to DJL whatever {} says: {}",
                    model.getName(),
                    OptionKey.LIVENESS.key(),
                    code.detour().orElse(reason));
        }
    }

    /**
     * A user's block may depend on its thread, so its passes are handed over to another thread only
     * if its code is known to be pure, or the user allows it.
     */
    private boolean usesWorkers(Optional<BlockCode> code, boolean imperative) {
        return !options.workers().isOff()
                && (!imperative
                        || !options.workers().isAuto()
                        || code.filter(BlockCode::knownPure).isPresent());
    }

    /**
     * Kernels keep buffers for each thread that ever ran them, so passes of a model with a budget,
     * which take turns anyway, run on one thread.
     */
    private InferencePass onWorkers(InferencePass pass, boolean hasBudget) {
        return hasBudget
                ? new WorkerForward(pass, Workers.one())
                : new WorkerForward(pass, options.workers());
    }

    /** If nothing is closed early and nothing runs twice, the block's code does not matter. */
    private boolean dependsOnCode() {
        return options.liveness() != Liveness.OFF || options.verify() || options.warmup().enabled();
    }

    private static boolean isImperative(Block block) {
        return !(block instanceof SymbolBlock);
    }

    /** The size of slices is part of the key, because a sliced layer makes other allocations. */
    private StoreKey key(
            Model model,
            Block block,
            Optional<BlockCode> code,
            Liveness mode,
            Optional<BudgetedWeights.Loaded> loaded) {
        StoreKey key = PyTorchModelKey.of(model, block, code, mode);
        long sliceBytes = loaded.map(BudgetedWeights.Loaded::sliceBytes).orElse(0L);
        return sliceBytes == 0
                ? key
                : new StoreKey(
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
