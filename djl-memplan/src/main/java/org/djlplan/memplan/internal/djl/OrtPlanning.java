package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.nn.Block;
import ai.djl.translate.TranslateException;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.BudgetOptions;
import org.djlplan.memplan.internal.config.InputShape;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.djl.OrtAdapter.OwnBlock;
import org.djlplan.memplan.internal.events.FlightRecord;
import org.djlplan.memplan.internal.gate.Gate;
import org.djlplan.memplan.internal.gate.Lane;
import org.djlplan.memplan.internal.report.ReportSources;
import org.djlplan.memplan.internal.runtime.FileMappings;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.ort.OrtAllocator;
import org.djlplan.memplan.internal.runtime.ort.OrtBudget;
import org.djlplan.memplan.internal.runtime.ort.OrtMemory;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a model of ONNX Runtime predict in arenas that all models share. A session's allocator is
 * set when the session is created. If DJL created a session without djl-plan's allocator, djl-plan
 * closes the session and creates another one.
 */
final class OrtPlanning {

    private static final Logger logger = LoggerFactory.getLogger(OrtPlanning.class);
    private static final double MEGA = 1e6;

    private final PlanOptions options;

    OrtPlanning(PlanOptions options) {
        this.options = options;
    }

    /**
     * Plans a loaded model.
     *
     * @param expected the mappings before the model's session was created, if it has our allocator
     * @return the reason why the model runs as stock; empty if it is planned
     * @throws TranslateException if its budget cannot be met, or it cannot be loaded again
     */
    Optional<String> plan(Model model, Optional<FileMappings> expected) throws TranslateException {
        try {
            OrtAdapter adapter = OrtAdapter.of(model);
            Optional<String> problem =
                    expected.isPresent() ? Optional.empty() : closeSession(model, adapter);
            return problem.isPresent() ? problem : install(model, adapter, expected);
        } catch (ReflectiveOperationException | RuntimeException e) {
            return Optional.of("DJL's engine for ONNX Runtime is not as expected: " + e);
        }
    }

    /**
     * Closes a stock session, so that two sessions are never in memory at once.
     *
     * @return the reason why the model runs as stock; its session is then open
     */
    private static Optional<String> closeSession(Model model, OrtAdapter adapter)
            throws ReflectiveOperationException, TranslateException {
        if (model.getNDManager().getDevice().isGpu()) {
            return Optional.of("it runs on " + model.getNDManager().getDevice());
        }
        if (adapter.file().isEmpty()) {
            return Optional.of(
                    "it was not loaded from a file, or its name leads to two files in "
                            + model.getModelPath());
        }
        Optional<String> problem = adapter.binding().attach();
        if (problem.isEmpty()) {
            adapter.useEnvironmentAllocator(true);
            close((AutoCloseable) model.getBlock());
        }
        return problem;
    }

    /**
     * Replaces a model's session that has our allocator by a session with the engine's own
     * allocator.
     *
     * @throws TranslateException if it cannot be loaded again
     */
    static void makeStock(Model model) throws TranslateException {
        try {
            OrtAdapter adapter = OrtAdapter.of(model);
            close((AutoCloseable) model.getBlock());
            restore(model, adapter);
        } catch (ReflectiveOperationException e) {
            throw new TranslateException(model.getName() + " cannot be loaded again", e);
        }
    }

    /**
     * Returns the reason why the session is stock; empty if it has our allocator.
     *
     * @param expected the mappings before the model's session was created; empty if it is closed
     * @throws TranslateException if the model has no session any more
     */
    private Optional<String> install(
            Model model, OrtAdapter adapter, Optional<FileMappings> expected)
            throws TranslateException {
        OwnBlock block;
        OrtMemory memory;
        Optional<AutoCloseable> opened = expected.map(before -> (AutoCloseable) model.getBlock());
        try {
            FileMappings before = expected.orElseGet(FileMappings::now);
            if (expected.isPresent()) {
                block = adapter.takeSession();
            } else {
                ProcessMemory.trim();
                OrtAllocator.beginLoad();
                AutoCloseable session = adapter.createSession();
                opened = Optional.of(session);
                block = adapter.newBlock(session);
            }
            opened = Optional.of(block);
            long allocated = OrtAllocator.endLoad();
            long mapped = FileMappings.now().addedBytes(before, model.getModelPath());
            memory = serve(model, block, newMemory(allocated, mapped));
        } catch (Throwable e) {
            restore(model, adapter, opened, e);
            Throwables.throwIfInstanceOf(e, Error.class);
            return Optional.of("its session cannot be created with the allocator: " + e);
        }
        tryOut(model, adapter, block, memory);
        return Optional.empty();
    }

    /**
     * Returns the memory of a model.
     *
     * @param allocatedBytes of weights
     * @param mappedBytes of weights, which are files beside the model
     */
    private OrtMemory newMemory(long allocatedBytes, long mappedBytes)
            throws UnsupportedPlatformException {
        BudgetOptions budget = options.budget();
        long weightsBytes = allocatedBytes + mappedBytes;
        return new OrtMemory(
                allocatedBytes,
                budget.limited()
                        ? Optional.of(
                                new OrtBudget(
                                        weightsBytes,
                                        OrtHandle.budget(budget.budget(), weightsBytes),
                                        budget.bestEffort()))
                        : Optional.empty());
    }

    /**
     * Checks that predictions allocate on their own threads, where a budget can limit them.
     *
     * @throws TranslateException if they do not
     */
    private void requireLimits(Model model, OrtAdapter adapter, OrtMemory memory)
            throws TranslateException {
        try {
            if (options.budget().bestEffort() || adapter.probe(memory::canLimit)) {
                return;
            }
        } catch (Exception e) {
            throw new TranslateException(model.getName() + ": its budget cannot be tried", e);
        }
        throw new TranslateException(
                model.getName()
                        + ": a budget cannot limit executionMode=PARALLEL, which allocates on other"
                        + " threads; use SEQUENTIAL");
    }

    /**
     * Checks a budget by running the model once, on inputs of the shapes in the options or in the
     * file. If the budget is too small, or is a share of what stock takes, a run without a limit
     * measures that.
     */
    private void tryBudget(Model model, OwnBlock block, OrtMemory memory)
            throws TranslateException {
        Budget budget = options.budget().budget();
        try {
            List<InputShape> inputs =
                    options.warmup().inputShapes().isEmpty()
                            ? OrtAdapter.inputs(block.block())
                            : options.warmup().inputShapes();
            boolean isShare = budget instanceof Budget.ShareOfStock && !inputs.isEmpty();
            if (!isShare) {
                memory.checkBudget();
            }
            if (isShare || (!inputs.isEmpty() && !LoadTimePredictions.fits(model, inputs))) {
                memory.setBudget(() -> BudgetReport.UNLIMITED);
                boolean unused = LoadTimePredictions.fits(model, inputs);
                memory.setBudget(OrtHandle.budget(budget, memory.modelBytes()));
                memory.checkBudget();
            }
        } catch (BudgetTooSmallException e) {
            throw new TranslateException(model.getName() + ": " + e.getMessage(), e);
        } catch (ReflectiveOperationException e) {
            logger.debug("{} is not tried in its budget", model.getName(), e);
        }
    }

    /** Gives the model a block whose predictions use the memory that is returned. */
    private OrtMemory serve(Model model, OwnBlock block, OrtMemory memory) {
        AutoCloseable both =
                () -> {
                    memory.close();
                    block.close();
                };
        String name = "djl-plan-" + System.identityHashCode(memory);
        ModelInUse use = new ModelInUse(model);
        try {
            use.attach(name, both);
            PyTorchPlanning.replaceBlock(model, wrap(model, block.block(), memory, use));
            return memory;
        } catch (RuntimeException | Error e) {
            model.getNDManager().detachInternal(name);
            memory.close();
            throw e;
        }
    }

    /** Runs a model that is planned, as far as its options ask for that. */
    private void tryOut(Model model, OrtAdapter adapter, OwnBlock block, OrtMemory memory)
            throws TranslateException {
        // The engine has freed the weights that it packed, but the C library keeps their memory.
        ProcessMemory.trim();
        logger.info(
                "{}: predictions use arenas{}, {} MB of weights",
                model.getName(),
                memory.hasBudget() ? " in a budget" : " that all models share",
                memory.weightsBytes() / MEGA);
        if (memory.hasBudget()) {
            requireLimits(model, adapter, memory);
            tryBudget(model, block, memory);
        } else if (options.warmup().enabled() && !options.warmup().inputShapes().isEmpty()) {
            LoadTimePredictions.run(model, options.warmup().inputShapes());
        }
    }

    /**
     * Gives the model a session of the engine's own again.
     *
     * @param failed the session, or its block, to close first, if there is one
     * @param problem why it is of no use
     */
    private static void restore(
            Model model, OrtAdapter adapter, Optional<AutoCloseable> failed, Throwable problem)
            throws TranslateException {
        try {
            if (failed.isPresent()) {
                close(failed.get());
            }
            restore(model, adapter);
        } catch (TranslateException e) {
            e.addSuppressed(problem);
            throw e;
        }
    }

    private static void restore(Model model, OrtAdapter adapter) throws TranslateException {
        Optional<AutoCloseable> opened = Optional.empty();
        try {
            adapter.useEnvironmentAllocator(false);
            AutoCloseable session = adapter.createSession();
            opened = Optional.of(session);
            Block block = adapter.engineBlock(session, model.getNDManager());
            opened = Optional.of((AutoCloseable) block);
            PyTorchPlanning.replaceBlock(model, block);
        } catch (Throwable e) {
            TranslateException lost =
                    new TranslateException(model.getName() + " cannot be loaded again", e);
            if (opened.isPresent()) {
                try {
                    close(opened.get());
                } catch (TranslateException open) {
                    lost.addSuppressed(open);
                }
            }
            throw lost;
        }
    }

    private static void close(AutoCloseable session) throws TranslateException {
        try {
            session.close();
        } catch (Exception e) {
            throw new TranslateException("the engine's session cannot be closed", e);
        }
    }

    private Block wrap(Model model, Block stock, OrtMemory memory, ModelInUse use) {
        InputLimit limit =
                new InputLimit(model.getName(), options.requests(), Optional.of(memory.needed()));
        InferencePass engines = InferencePass.of(stock);
        InferencePass forward =
                (parameters, inputs, params) ->
                        memory.run(
                                ArraySizes.of(inputs),
                                () -> engines.forward(parameters, inputs, params));
        VerifiedForward.Status verification = new VerifiedForward.Status();
        InferencePass checked =
                options.verify()
                        ? new VerifiedForward(model.getName(), engines, forward, verification)
                        : forward;
        Lane lane =
                memory.hasBudget()
                        ? Gate.shared().lane(1, PoolReport.Cause.ARENAS)
                        : Gate.shared().lane();
        InferencePass placed =
                new WorkerForward(
                        checked,
                        lane,
                        Optional.of(memory.needed()),
                        () -> Gate.shared().places(options.workers().forThreads(-1)),
                        false);
        String name = model.getName();
        Block planned =
                BlockProxy.wrap(
                        stock,
                        use.guard(
                                (parameters, inputs, params) -> {
                                    limit.check(inputs);
                                    return FlightRecord.prediction(
                                            name,
                                            "OnnxRuntime",
                                            () -> placed.forward(parameters, inputs, params));
                                }));
        ReportSources.register(planned, new OrtHandle(memory, limit, verification));
        return planned;
    }
}
