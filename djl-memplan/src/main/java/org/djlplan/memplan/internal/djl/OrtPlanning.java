package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.nn.Block;
import ai.djl.translate.TranslateException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.BudgetOptions;
import org.djlplan.memplan.internal.config.InputShape;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.events.FlightRecord;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.internal.gate.Gate;
import org.djlplan.memplan.internal.gate.Lane;
import org.djlplan.memplan.internal.report.ReportSources;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.ort.OrtAllocator;
import org.djlplan.memplan.internal.runtime.ort.OrtMemory;
import org.djlplan.memplan.report.BudgetReport;
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
     * @param early the model's session, if it has our allocator already
     * @return the reason why the model runs as stock; empty if it is planned
     * @throws TranslateException if its budget cannot be met, or it cannot be loaded again
     */
    Optional<String> plan(Model model, Optional<OrtAllocator.Arrived> early)
            throws TranslateException {
        try {
            OrtAdapter adapter = OrtAdapter.of(model);
            if (early.isPresent() && early.get().address() == adapter.session()) {
                Block block = model.getBlock();
                tryOut(model, block, serve(model, block, early.get().weightsBytes()));
                return Optional.empty();
            }
            return planAnew(model, adapter);
        } catch (ReflectiveOperationException | UnsupportedPlatformException | RuntimeException e) {
            return Optional.of("DJL's engine for ONNX Runtime is not as expected: " + e);
        }
    }

    private Optional<String> planAnew(Model model, OrtAdapter adapter)
            throws ReflectiveOperationException, TranslateException {
        if (model.getNDManager().getDevice().isGpu()) {
            return Optional.of("it runs on " + model.getNDManager().getDevice());
        }
        Optional<Path> file = adapter.file();
        if (file.isEmpty()) {
            return Optional.of(
                    "it was not loaded from a file, or its name leads to two files in "
                            + model.getModelPath());
        }
        Optional<String> problem = adapter.binding().attach();
        if (problem.isPresent()) {
            return problem;
        }
        ExpectedSession.prepare(adapter.binding());
        return install(model, adapter, file.get());
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
            Path file =
                    adapter.file()
                            .orElseThrow(() -> new NoSuchFieldException("no file of the model"));
            close((AutoCloseable) model.getBlock());
            restore(model, adapter, file);
        } catch (ReflectiveOperationException e) {
            throw new TranslateException(model.getName() + " cannot be loaded again", e);
        }
    }

    /**
     * Returns the reason why the session is stock; empty if it has our allocator.
     *
     * @throws TranslateException if the model has no session any more
     */
    private Optional<String> install(Model model, OrtAdapter adapter, Path file)
            throws ReflectiveOperationException, TranslateException {
        adapter.useEnvironmentAllocator(true);
        // The stock session is closed first, so that two are never in memory at once.
        close((AutoCloseable) model.getBlock());
        Block block;
        OrtMemory memory;
        Optional<AutoCloseable> opened = Optional.empty();
        try {
            ProcessMemory.trim();
            OrtAllocator.Loaded<AutoCloseable> loaded =
                    OrtAllocator.load(() -> adapter.createSession(file));
            opened = Optional.of(loaded.session());
            block = adapter.newBlock(loaded.session());
            opened = Optional.of((AutoCloseable) block);
            memory = serve(model, block, loaded.weightsBytes());
        } catch (Throwable e) {
            restore(model, adapter, file, opened, e);
            Throwables.throwIfInstanceOf(e, Error.class);
            return Optional.of("its session cannot be created with the allocator: " + e);
        }
        tryOut(model, block, memory);
        return Optional.empty();
    }

    private OrtMemory newMemory(long weightsBytes) throws UnsupportedPlatformException {
        BudgetOptions budget = options.budget();
        return new OrtMemory(
                weightsBytes,
                budget.limited()
                        ? Optional.of(
                                budget.bestEffort()
                                        ? () -> BudgetReport.UNLIMITED
                                        : OrtHandle.budget(budget.budget(), weightsBytes))
                        : Optional.empty());
    }

    /**
     * Checks a budget by running the model once, on inputs of the shapes in the options or in the
     * file. If the budget is too small, a second run without a limit measures the smallest one.
     */
    private void tryBudget(Model model, Block block, OrtMemory memory) throws TranslateException {
        try {
            memory.checkBudget();
            List<InputShape> inputs =
                    options.warmup().inputShapes().isEmpty()
                            ? OrtAdapter.inputs(block)
                            : options.warmup().inputShapes();
            if (!inputs.isEmpty() && !LoadTimePredictions.fits(model, inputs)) {
                LongSupplier budget = memory.budget().orElseThrow();
                memory.setBudget(() -> BudgetReport.UNLIMITED);
                boolean unused = LoadTimePredictions.fits(model, inputs);
                memory.setBudget(budget);
                memory.checkBudget();
            }
        } catch (BudgetTooSmallException e) {
            throw new TranslateException(model.getName() + ": " + e.getMessage(), e);
        } catch (ReflectiveOperationException e) {
            logger.debug("{} is not tried in its budget", model.getName(), e);
        }
    }

    /** Gives the model a block whose predictions use the memory that is returned. */
    private OrtMemory serve(Model model, Block block, long weightsBytes)
            throws UnsupportedPlatformException {
        OrtMemory memory = newMemory(weightsBytes);
        String name = "djl-plan-" + System.identityHashCode(memory);
        try {
            model.getNDManager().attachInternal(name, memory);
            PyTorchPlanning.replaceBlock(model, wrap(model, block, memory));
            return memory;
        } catch (RuntimeException | Error e) {
            model.getNDManager().detachInternal(name);
            memory.close();
            throw e;
        }
    }

    /** Runs a model that is planned, as far as its options ask for that. */
    private void tryOut(Model model, Block block, OrtMemory memory) throws TranslateException {
        // The engine has freed the weights that it packed, but the C library keeps their memory.
        ProcessMemory.trim();
        logger.info(
                "{}: predictions use arenas{}, {} MB of weights",
                model.getName(),
                memory.hasBudget() ? " in a budget" : " that all models share",
                memory.weightsBytes() / MEGA);
        if (memory.hasBudget()) {
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
            Model model,
            OrtAdapter adapter,
            Path file,
            Optional<AutoCloseable> failed,
            Throwable problem)
            throws TranslateException {
        try {
            if (failed.isPresent()) {
                close(failed.get());
            }
            restore(model, adapter, file);
        } catch (TranslateException e) {
            e.addSuppressed(problem);
            throw e;
        }
    }

    private static void restore(Model model, OrtAdapter adapter, Path file)
            throws TranslateException {
        Optional<AutoCloseable> opened = Optional.empty();
        try {
            adapter.useEnvironmentAllocator(false);
            AutoCloseable session = adapter.createSession(file);
            opened = Optional.of(session);
            Block block = adapter.newBlock(session);
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

    private Block wrap(Model model, Block block, OrtMemory memory) {
        InputLimit limit =
                new InputLimit(model.getName(), options.requests(), Optional.of(memory.needed()));
        InferencePass stock = InferencePass.of(block);
        InferencePass forward =
                (parameters, inputs, params) ->
                        memory.run(
                                ArraySizes.of(inputs),
                                () -> stock.forward(parameters, inputs, params));
        InferencePass checked =
                options.verify() ? new VerifiedForward(model.getName(), stock, forward) : forward;
        Lane lane =
                memory.hasBudget()
                        ? Gate.shared().lane(1, Waits.Lack.ARENAS)
                        : Gate.shared().lane();
        InferencePass placed =
                WorkerForward.withoutSettings(checked, lane, memory.needed(), options.workers());
        String name = model.getName();
        Block planned =
                BlockProxy.wrap(
                        block,
                        (parameters, inputs, params) -> {
                            ExpectedSession.expectNone();
                            limit.check(inputs);
                            return FlightRecord.prediction(
                                    name,
                                    "OnnxRuntime",
                                    () -> placed.forward(parameters, inputs, params));
                        });
        ReportSources.register(planned, new OrtHandle(memory, limit));
        return planned;
    }
}
