package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.OrderReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.runtime.NoArenaException;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@code .tflite} model whose intermediate tensors live in planned arenas. For any number of
 * threads; may be closed twice and while predictions run, which then end normally.
 */
public final class TfLiteRuntime implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(TfLiteRuntime.class);

    private final OpenModel model;
    private final RuntimeOptions options;
    private final PlanFinder planner;
    private final InterpreterFactory factory;
    private final InterpreterPool pool;
    private final Optional<String> delegate;
    private final Optional<OrderReport> order;
    private final boolean stateful;
    private volatile ModelInterpreter.Description described;
    private final LongAdder predictions = new LongAdder();
    private final LongAdder unplanned = new LongAdder();

    /**
     * Opens a model, plans it for the shapes in its file and builds its first interpreter.
     *
     * @param ordered the model in the order to run it in
     * @param delegation empty to run everything in CPU kernels
     * @param planner plans what the engine makes of it; closed with the model
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if the model cannot be planned here; the message says why
     * @throws IllegalArgumentException if there is no such strategy
     */
    public static TfLiteRuntime open(
            OrderedModel ordered,
            RuntimeOptions options,
            Optional<DelegationSetup> delegation,
            PlanFinder planner)
            throws IOException, UnplannableException {
        OpenModel model = OpenModel.of(ordered);
        InterpreterFactory factory;
        try {
            factory = DelegationSetup.factory(model, options, planner, delegation);
        } catch (RuntimeException | Error e) {
            model.close();
            throw e;
        }
        return new TfLiteRuntime(
                model,
                options,
                planner,
                factory,
                delegation.map(DelegationSetup::name),
                ordered.report());
    }

    /** Opens a model that is planned by the strategies only. */
    public static TfLiteRuntime open(
            Path file, RuntimeOptions options, Optional<DelegationSetup> delegation)
            throws IOException, UnplannableException {
        return open(OrderedModel.asInFile(file), options, delegation, options.planAtOnce());
    }

    /** Opens a model that is planned by the strategies only and of which nothing is delegated. */
    public static TfLiteRuntime open(Path file, RuntimeOptions options)
            throws IOException, UnplannableException {
        return open(file, options, Optional.empty());
    }

    private TfLiteRuntime(
            OpenModel model,
            RuntimeOptions options,
            PlanFinder planner,
            InterpreterFactory factory,
            Optional<String> delegate,
            Optional<OrderReport> order)
            throws UnplannableException {
        this.model = model;
        this.options = options;
        this.planner = planner;
        this.factory = factory;
        this.delegate = delegate;
        this.order = order;
        // The state of a stateful model is in its interpreter: a second one would have its own.
        stateful = InterpreterFactory.isStateful(model.graph());
        int limit = stateful ? 1 : options.maxInterpreters();
        pool = new InterpreterPool(limit, options.idleAfter(), factory, model::close);
        try {
            ModelInterpreter first = borrow(factory.shapesInFile(), factory.choice().lightest());
            described = first.description();
            pool.giveBack(first);
            releaseWhatWasPacked();
        } catch (UnplannableException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /**
     * Delegates something else from the next prediction on. Unless there is one, the first
     * interpreter of the new choice is built and run once before that, so that no prediction waits
     * for it. If that fails, all stays as it is, with a warning; so it does for stateful models and
     * closed ones.
     */
    public void switchTo(DelegationChoice choice) {
        if (stateful) {
            logger.info("{} keeps state: it stays with what it has", model.graph().name());
            return;
        }
        try {
            pool.enter();
        } catch (IllegalStateException e) {
            return;
        }
        try {
            Candidate lightest = choice.lightest();
            boolean serves =
                    pool.interpreters().stream()
                            .anyMatch(
                                    i ->
                                            i.delegates(lightest)
                                                    && i.hasShapes(factory.shapesInFile()));
            Optional<ModelInterpreter> first =
                    serves ? Optional.empty() : Optional.of(ready(lightest));
            pool.switchTo(choice, first);
            first.ifPresent(built -> described = built.description());
            releaseWhatWasPacked();
        } catch (UnplannableException | RuntimeException e) {
            logger.warn(
                    "{} stays with what it has: {}",
                    model.graph().name(),
                    UnplannableException.reason(e));
        } finally {
            pool.leave();
        }
    }

    /** The weights that a delegate reads it keeps packed in memory of its own. */
    private void releaseWhatWasPacked() {
        if (described.partitions() > 0) {
            model.mapping().releasePages();
        }
    }

    /** Returns an interpreter that ran once. */
    private ModelInterpreter ready(Candidate candidate) throws UnplannableException {
        ModelInterpreter built = factory.build(factory.shapesInFile(), candidate, false);
        try {
            // Nobody's prediction: it is not counted.
            if (predict(built, zeros(), () -> {}).isEmpty()) {
                throw new UnplannableException("the engine's tensors changed after planning");
            }
            return built;
        } catch (UnplannableException | RuntimeException | Error e) {
            built.close();
            throw e;
        }
    }

    private List<ByteBuffer> zeros() {
        return described.inputs().stream()
                .map(input -> ByteBuffer.allocate((int) input.bytes()))
                .toList();
    }

    /** Returns the graph as the model's file has it. */
    public Graph graph() {
        return model.graph();
    }

    /** Returns the inputs with the shapes in the file. */
    public ImmutableList<TensorInfo> inputs() {
        return described.inputs();
    }

    /** Returns the outputs for the shapes in the file. */
    public ImmutableList<TensorInfo> outputs() {
        return described.outputs();
    }

    /**
     * Predicts once.
     *
     * @param values one buffer per input, in native byte order; what remains of it is the value
     * @param shapes the shapes of the inputs. As in the stock engine they do not matter when every
     *     value has as many bytes as the file's shape asks for; else the model is planned for them
     * @return one value per output, in memory of its own
     * @throws IllegalArgumentException if a value cannot be that of its input
     * @throws IllegalStateException if the model is closed, its file was changed in place, or the
     *     engine fails
     */
    public List<OutputTensor> run(List<ByteBuffer> values, List<List<Integer>> shapes) {
        pool.requireOpen();
        if (!model.mapping().intact()) {
            // It is neither when it was closed just now.
            pool.requireOpen();
            throw new IllegalStateException(
                    model.file()
                            + " was changed in place after it was loaded: load the model again");
        }
        List<List<Integer>> effective =
                InputShapes.effective(described.inputs(), factory.shapesInFile(), values, shapes);
        predictions.increment();
        while (true) {
            try {
                Optional<List<OutputTensor>> results = attempt(effective, values);
                if (results.isPresent()) {
                    return results.get();
                }
                if (factory.leftToEngine().isEmpty()) {
                    factory.giveUp(effective, "the engine's tensors changed after planning");
                }
            } catch (UnplannableException e) {
                if (!factory.giveUp(effective, e.getMessage())) {
                    throw new IllegalStateException(model.file() + ": " + e.getMessage(), e);
                }
            }
        }
    }

    private Optional<List<OutputTensor>> attempt(
            List<List<Integer>> shapes, List<ByteBuffer> values) throws UnplannableException {
        ThreadGovernor governor = factory.governor();
        ThreadGovernor.Gear gear = begin(governor);
        long nanos = 0;
        boolean usual = false;
        try {
            ModelInterpreter interpreter = borrow(shapes, gear.candidate());
            Optional<List<OutputTensor>> results = attempt(interpreter, values);
            nanos = interpreter.lastNanos();
            usual = results.isPresent() && shapes == factory.shapesInFile();
            return results;
        } finally {
            governor.end(gear, nanos, usual);
        }
    }

    private static ThreadGovernor.Gear begin(ThreadGovernor governor) {
        try {
            return governor.begin();
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private Optional<List<OutputTensor>> attempt(
            ModelInterpreter interpreter, List<ByteBuffer> values) {
        Optional<List<OutputTensor>> results = Optional.empty();
        try {
            if (interpreter.plan().isEmpty() && interpreter.hasShapes(factory.shapesInFile())) {
                described = interpreter.description();
            }
            results = predict(interpreter, values, unplanned::increment);
            return results;
        } finally {
            if (results.isPresent()) {
                pool.giveBack(interpreter);
            } else {
                pool.discard(interpreter);
            }
        }
    }

    /**
     * @param countUnplanned called if it does not run in an arena of the pool
     * @return empty if the plan does not fit any more
     */
    private Optional<List<OutputTensor>> predict(
            ModelInterpreter interpreter, List<ByteBuffer> values, Runnable countUnplanned) {
        if (interpreter.plan().isEmpty()) {
            countUnplanned.run();
            return Optional.of(interpreter.runStock(values));
        }
        if (factory.leftToEngine().isPresent()) {
            return Optional.empty();
        }
        Optional<ArenaPool.Need> need = interpreter.need();
        if (need.isEmpty()) {
            return Optional.of(interpreter.runStock(values));
        }
        try (ArenaPool.Lease lease = need.get().lease(options.maxArenas(), options.arenaWait())) {
            if (!lease.pooled()) {
                countUnplanned.run();
            }
            return interpreter.run(values, lease.arena());
        } catch (NoArenaException e) {
            factory.leaveToEngine(e.getMessage());
            return Optional.empty();
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private ModelInterpreter borrow(List<List<Integer>> shapes, Candidate candidate)
            throws UnplannableException {
        try {
            return pool.borrow(shapes, candidate);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static IllegalStateException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IllegalStateException("interrupted while waiting to predict", e);
    }

    /**
     * Returns what was planned for the shapes in the file, or why nothing is any more, and what
     * happened until now.
     */
    public PlanReport report() {
        List<PlanReport.Interpreter> interpreters =
                pool.interpreters().stream()
                        .map(
                                i ->
                                        new PlanReport.Interpreter(
                                                i.shapes(),
                                                i.ownBytes(),
                                                i.plan().map(ShapePlan::arenaBytes).orElse(0L)))
                        .toList();
        ModelInterpreter.Description serving = serving();
        PlanReport report =
                serving.report(
                        interpreters,
                        predictions.sum(),
                        unplanned.sum(),
                        delegate.map(name -> delegation(name, serving)),
                        order);
        return factory.leftToEngine().map(report::stopped).orElse(report);
    }

    /** Returns what an interpreter of the file's shapes is like that serves now. */
    private ModelInterpreter.Description serving() {
        Candidate now = factory.governor().serving();
        return pool.interpreters().stream()
                .filter(i -> i.delegates(now) && i.hasShapes(factory.shapesInFile()))
                .map(ModelInterpreter::description)
                .findFirst()
                .orElse(described);
    }

    private DelegationReport delegation(String name, ModelInterpreter.Description serving) {
        DelegationChoice choice = factory.choice();
        return new DelegationReport(
                name,
                model.graph().operators().size(),
                serving.delegatedOperators(),
                serving.partitions(),
                factory.governor().serving().threads(),
                choice.origin().name(),
                choice.reason(),
                choice.outputs());
    }

    /** Frees everything: idle interpreters at once, others when their prediction ends. */
    @Override
    public void close() {
        planner.close();
        pool.close();
    }
}
