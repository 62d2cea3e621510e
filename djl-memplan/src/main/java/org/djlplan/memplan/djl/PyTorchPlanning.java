package org.djlplan.memplan.djl;

import ai.djl.BaseModel;
import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.SymbolBlock;
import ai.djl.util.Utils;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.djlplan.memplan.config.Liveness;
import org.djlplan.memplan.config.OptionKey;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.config.WorkerCount;
import org.djlplan.memplan.djl.liveness.LivenessExecutor;
import org.djlplan.memplan.djl.purity.BlockCode;
import org.djlplan.memplan.djl.purity.Finding;
import org.djlplan.memplan.planning.AllocationPlanning;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.runtime.torch.AllocationPlans;
import org.djlplan.memplan.runtime.torch.TorchAllocator;
import org.djlplan.memplan.runtime.torch.TorchMemory;
import org.djlplan.memplan.store.StoreKey;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Wraps the block of a PyTorch model, so that it predicts in planned memory. */
final class PyTorchPlanning {

    private static final Logger logger = LoggerFactory.getLogger(PyTorchPlanning.class);

    private final PlanOptions options;

    PyTorchPlanning(PlanOptions options) {
        this.options = options;
    }

    /**
     * Plans a loaded model.
     *
     * @return why it was left as it was; empty if it is planned
     */
    Optional<String> plan(Model model) {
        Block block = model.getBlock();
        if (block == null) {
            return Optional.of("it has no block");
        }
        Optional<String> problem = problem(model);
        if (problem.isEmpty()) {
            replaceBlock(model, wrap(model, block));
            if (options.warmup()) {
                LoadTimePredictions.run(model, options.inputShapes());
            }
        }
        return problem;
    }

    /**
     * Gives a model another block. {@link Model#setBlock} also makes it forget that it was loaded,
     * so that training would leave frozen parameters frozen; that is undone.
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

    /** Returns a block that does what {@code block} does, in planned memory. */
    Block wrap(Model model, Block block) {
        Optional<BlockCode> code =
                isImperative(block) && dependsOnCode()
                        ? Optional.of(BlockCode.look(block))
                        : Optional.empty();
        Liveness mode =
                code.map(known -> LivenessExecutor.effective(options.liveness(), known))
                        .orElse(Liveness.OFF);
        code.filter(known -> !known.pure()).ifPresent(known -> refuse(model, known, mode));
        TorchMemory memory =
                new TorchMemory(
                        model.getName(), options.arenas(), () -> plans(model, block, code, mode));
        model.getNDManager().attachInternal("djl-plan-" + System.identityHashCode(memory), memory);
        Optional<LivenessExecutor> liveness =
                code.filter(known -> mode != Liveness.OFF)
                        .map(known -> new LivenessExecutor(block, mode, known));
        UnaryOperator<InferencePass> planner =
                stock -> {
                    InferencePass forward = new PlannedForward(stock, liveness, memory);
                    InferencePass checked =
                            options.verify()
                                    ? new VerifiedForward(model.getName(), stock, forward)
                                    : forward;
                    InferencePass placed =
                            usesWorkers(code, isImperative(block))
                                    ? new WorkerForward(checked, workers())
                                    : checked;
                    return new PredictorForward(stock, placed, memory);
                };
        Block planned =
                block.getClass() == SequentialBlock.class
                        ? new PlannedSequentialBlock((SequentialBlock) block, planner)
                        : BlockProxy.wrap(block, planner);
        PlanReport.register(planned, memory::report);
        return planned;
    }

    /**
     * Says what a block does without that is not known to be pure.
     *
     * @throws IllegalArgumentException if an option is set that runs it more than once
     */
    private void refuse(Model model, BlockCode code, Liveness mode) {
        Finding reason = code.impurity().orElseThrow();
        if (options.verify() || options.warmup()) {
            throw new IllegalArgumentException(
                    (options.verify() ? OptionKey.VERIFY : OptionKey.WARMUP).key()
                            + "=true: runs a model more than once, which "
                            + model.getName()
                            + " is not known to allow: "
                            + reason);
        }
        if (options.liveness() == Liveness.AUTO) {
            logger.info(
                    "Intermediates of {} are left to DJL, as it is not known to be pure: {}",
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
     * What a block of the user's does with the thread that it runs on, nobody knows: its passes are
     * moved to another one only if its code is known to be pure, or if the user says so.
     */
    private boolean usesWorkers(Optional<BlockCode> code, boolean imperative) {
        return !options.workers().isOff()
                && (!imperative
                        || !options.workers().isAuto()
                        || code.filter(BlockCode::knownPure).isPresent());
    }

    /** A pass for which there is no arena would wait for one anyway. */
    private WorkerCount workers() {
        WorkerCount wanted = options.workers();
        return options.arenas().most().isPresent()
                ? wanted.atMost(options.arenas().most().getAsInt())
                : wanted;
    }

    /** Where nothing is closed early and nothing runs twice, what a block does does not matter. */
    private boolean dependsOnCode() {
        return options.liveness() != Liveness.OFF || options.verify() || options.warmup();
    }

    private static boolean isImperative(Block block) {
        return !(block instanceof SymbolBlock);
    }

    private AllocationPlans plans(
            Model model, Block block, Optional<BlockCode> code, Liveness mode) {
        Path cache = Utils.getCacheDir().resolve("djl-plan");
        boolean fromFiles = isImperative(block) || PyTorchModelKey.file(model).isPresent();
        Path folder = fromFiles && model.getModelPath() != null ? model.getModelPath() : cache;
        StoreKey key = PyTorchModelKey.of(model, block, code, options.planning().strategy(), mode);
        return AllocationPlanning.of(options.planning(), key, folder, cache);
    }
}
