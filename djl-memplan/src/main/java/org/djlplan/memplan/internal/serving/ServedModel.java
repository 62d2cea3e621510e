package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.events.FlightRecord;
import org.djlplan.memplan.internal.report.DelegationReportRecord;
import org.djlplan.memplan.internal.report.PlanReportRecord;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.NoArenaException;
import org.djlplan.memplan.internal.runtime.PlanFigures;
import org.djlplan.memplan.internal.runtime.Settling;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.InputShapes;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterFactory;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterPool;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.PlanFinder;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@code .tflite} model in service: predicts in planned arenas, each time with the candidate that
 * suits the load, and switches to a better choice when there is one. Thread-safe; may be closed
 * twice and while predictions run, which then end normally.
 */
public final class ServedModel implements TfLiteModel {

    private static final Logger logger = LoggerFactory.getLogger(ServedModel.class);

    /** How long an interpreter that is not the model's last is kept without use. */
    private static final Duration IDLE_AFTER = Duration.ofSeconds(30);

    private static final String WAITS =
            "the shapes in its file are placeholders, so it cannot be measured";

    private final OpenModel model;

    /** Whether nothing can be allocated before there is a prediction. */
    private final boolean waits;

    /** The interpreter with which the model's properties were determined, until it serves. */
    private Optional<ModelInterpreter> probe;

    private final InterpreterFactory factory;
    private final OtherShapes otherShapes;
    private final ServedCandidates candidates;
    private final InterpreterPool pool;
    private final Settling settling;
    private final Optional<Delegation> delegation;
    private final boolean stateful;
    private final int passesAtOnce;
    private volatile ModelInterpreter.Description described;

    /**
     * Whether nothing is delegated at the shapes in the file before a prediction has them: what a
     * delegate takes for large ones may be many times what it takes for those of predictions.
     */
    private final boolean defers;

    /** Whether a prediction had the shapes in the file. */
    private volatile boolean usesShapesInFile;

    private final LongAdder predictions = new LongAdder();
    private final LongAdder unplanned = new LongAdder();

    /** The delegation of one model, which chooses the operators that a delegate runs. */
    public interface Delegation extends AutoCloseable {

        /** Returns the name of the delegate. */
        String name();

        /** Returns the engine's name and the version of its native library. */
        String engine();

        /** Returns the factory of each interpreter's delegate. */
        DelegateFactory delegates();

        /** Returns the initial choice. Called once the model is read. */
        DelegationChoice first(Graph graph);

        /** Returns whether workspaces share their pages with those of other models. */
        default boolean sharesWorkspaces() {
            return true;
        }

        /**
         * Returns whether predictions with other shapes than those in the file are delegated and to
         * be expected. Called after {@link #first}.
         */
        default boolean expectsOtherShapes() {
            return false;
        }

        /** Passes later choices on to a serving model. */
        default void attach(ServedModel model) {}

        /** Returns whether no other choice will follow. */
        default boolean isSettled() {
            return true;
        }

        /** Cancels background work. */
        @Override
        default void close() {}
    }

    /**
     * Opens a model, plans it for the shapes in its file and builds its first interpreter.
     *
     * @param file the model's
     * @param planner plans it
     * @param delegation closed with the model; empty to run everything in CPU kernels
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if the model cannot be planned here; the message says why
     */
    public static ServedModel open(
            Path file, PlanOptions options, PlanFinder planner, Optional<Delegation> delegation)
            throws IOException, UnplannableException {
        return open(file, options, planner, delegation, IDLE_AFTER);
    }

    /**
     * Opens a model as {@link #open(Path, PlanOptions, PlanFinder, Optional)} does.
     *
     * @param idleAfter how long an interpreter that is not the model's last is kept without use
     */
    @VisibleForTesting
    public static ServedModel open(
            Path file,
            PlanOptions options,
            PlanFinder planner,
            Optional<Delegation> delegation,
            Duration idleAfter)
            throws IOException, UnplannableException {
        try {
            OpenModel model = OpenModel.of(file);
            ServedModel served;
            try {
                served = new ServedModel(model, options, planner, delegation, idleAfter);
            } catch (UnplannableException | RuntimeException | Error e) {
                model.close();
                throw e;
            }
            served.start();
            if (delegation.isPresent()) {
                delegation.get().attach(served);
            }
            return served;
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            delegation.ifPresent(Delegation::close);
            throw e;
        }
    }

    /** Everything runs in the CPU kernels. */
    private static DelegationChoice withoutDelegate(int threads, String why) {
        return new DelegationChoice(Candidate.cpu(threads), Origin.UNVERIFIED, why);
    }

    private ServedModel(
            OpenModel model,
            PlanOptions options,
            PlanFinder planner,
            Optional<Delegation> delegation,
            Duration idleAfter)
            throws UnplannableException {
        this.model = model;
        this.delegation = delegation;
        // State is in the interpreter: it cannot move to another if an arena is not to be had
        // again, and a second one would have its own.
        stateful = ServedCandidates.isStateful(model.graph());
        passesAtOnce = options.workers().interpreters();
        factory =
                new InterpreterFactory(
                        model.sessions(),
                        model.graph(),
                        planner,
                        delegation.isPresent()
                                ? delegation.get().delegates()
                                : Delegates.named(Delegates.XNNPACK),
                        stateful ? new ArenaPool() : ArenaPool.shared(),
                        !stateful && (delegation.isEmpty() || delegation.get().sharesWorkspaces()));
        probe = model.leavesDimensions() ? probe(options.threads()) : Optional.empty();
        waits = model.leavesDimensions() && probe.isEmpty();
        DelegationChoice choice;
        try {
            if (waits) {
                choice = withoutDelegate(options.threads(), WAITS);
            } else if (delegation.isPresent()) {
                choice = delegation.get().first(model.graph());
            } else {
                choice = withoutDelegate(options.threads(), "delegation is off");
            }
            defers = !stateful && delegation.isPresent() && delegation.get().expectsOtherShapes();
            if (defers && choice.lightest().delegates() && probe.isEmpty()) {
                probe = probe(options.threads());
            }
        } catch (UnplannableException | RuntimeException | Error e) {
            probe.ifPresent(ModelInterpreter::close);
            throw e;
        }
        otherShapes = new OtherShapes(model.graph().name());
        candidates = new ServedCandidates(model.graph(), factory, choice, otherShapes);
        pool =
                new InterpreterPool(
                        stateful ? 1 : passesAtOnce, idleAfter, candidates, model::close);
        settling = new Settling(model::releasePages);
    }

    /**
     * Builds an interpreter for the shapes in the file, which may be placeholders.
     *
     * @return empty if the engine can allocate nothing for them
     * @throws UnplannableException if the model cannot be planned here
     */
    private Optional<ModelInterpreter> probe(int threads) throws UnplannableException {
        try {
            return Optional.of(
                    factory.build(factory.shapesInFile(), Candidate.cpu(threads), false));
        } catch (IllegalStateException e) {
            logger.debug("{} waits for the shapes of its inputs", model.file(), e);
            return Optional.empty();
        }
    }

    /** Builds the first interpreter; if that fails, the model is closed. */
    private void start() throws UnplannableException {
        if (waits) {
            described =
                    ModelInterpreter.Description.before(
                            model.inputsBeforeShapes(), model.outputsBeforeShapes());
            factory.planNext();
            return;
        }
        try {
            Candidate lightest = candidates.choice().lightest();
            Optional<ModelInterpreter> known = probe.filter(p -> defers && lightest.delegates());
            if (known.isPresent()) {
                described = known.get().description();
                useProbe(lightest);
            } else {
                useProbe(lightest);
                ModelInterpreter first = borrow(factory.shapesInFile(), lightest);
                described = first.description();
                pool.giveBack(first);
                releaseWhatWasPacked();
            }
            record();
        } catch (UnplannableException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Lets the interpreter that determined the shapes serve, if its candidate is chosen. */
    private void useProbe(Candidate lightest) {
        Optional<ModelInterpreter> first = probe;
        if (probe.isPresent() && !probe.get().delegates(lightest)) {
            probe.get().close();
            first = Optional.empty();
        }
        probe = Optional.empty();
        pool.switchTo(() -> {}, first);
    }

    /**
     * Delegates something else from the next prediction on. Unless there is one, or only other
     * shapes than those in the file are expected, the first interpreter of the new choice is built
     * and run once before that, so that no prediction waits for it. If that fails, all stays as it
     * is, with a warning; so it does for stateful models and closed ones.
     */
    public void switchTo(DelegationChoice choice) {
        if (stateful) {
            logger.info("{} keeps state, so its delegation does not change", model.graph().name());
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
            boolean deferred = defers && !usesShapesInFile;
            Optional<ModelInterpreter> first =
                    serves || deferred
                            ? Optional.empty()
                            : Optional.of(ready(factory.shapesInFile(), lightest));
            pool.switchTo(() -> candidates.choose(choice), first);
            first.ifPresent(built -> described = built.description());
            releaseWhatWasPacked();
            record();
        } catch (UnplannableException | RuntimeException e) {
            logger.warn(
                    "{} keeps its previous delegation: {}",
                    model.graph().name(),
                    UnplannableException.reason(e));
        } finally {
            pool.leave();
        }
    }

    /**
     * Requests measurements at the shapes of predictions, if these differ from the shapes in the
     * file and the model has no state. Each request is answered by {@link #useAt}, or by {@link
     * #stayAt} if there is no result.
     *
     * @param measure called on a background thread
     */
    public void measureOtherShapes(Consumer<ShapeMix> measure) {
        if (!stateful) {
            otherShapes.measureWith(measure);
        }
    }

    /**
     * Uses a choice for all shapes that a mix encloses, from the next predictions on. An
     * interpreter that delegates is built and run once before that, at the largest of the shapes:
     * XNNPACK keeps memory for the largest that it had, and replaces all of it for a larger one. If
     * that fails, the next prediction tries it.
     */
    public void useAt(ShapeMix mix, DelegationChoice choice) {
        try {
            pool.enter();
        } catch (IllegalStateException e) {
            return;
        }
        try {
            Candidate serves = OtherShapes.candidate(choice, candidates.choice().lightest());
            Optional<ModelInterpreter> first =
                    serves.delegates()
                            ? readyAt(OtherShapes.largest(mix), serves)
                            : Optional.empty();
            pool.switchTo(() -> otherShapes.use(mix, choice), first);
            if (first.isPresent()) {
                factory.trimArenas();
                settling.settleNow();
            }
        } finally {
            pool.leave();
        }
    }

    private Optional<ModelInterpreter> readyAt(List<List<Integer>> shapes, Candidate candidate) {
        try {
            return Optional.of(ready(shapes, candidate));
        } catch (UnplannableException | RuntimeException e) {
            logger.debug("{} delegates nothing at {} yet", model.graph().name(), shapes, e);
            return Optional.empty();
        }
    }

    /** Keeps the present choice for other shapes. */
    public void stayAt() {
        otherShapes.answered();
    }

    /** Returns whether no measurement at other shapes is pending. */
    public boolean isSettledAtOtherShapes() {
        return otherShapes.isSettled();
    }

    /** The weights that a delegate reads it keeps packed in memory of its own. */
    private void releaseWhatWasPacked() {
        if (described.partitions() > 0) {
            model.releasePages();
        }
    }

    private void record() {
        if (!FlightRecord.isOn()) {
            return;
        }
        report().delegation()
                .ifPresent(
                        now ->
                                FlightRecord.delegation(
                                        model.graph().name(),
                                        now.operators(),
                                        now.delegatedOperators(),
                                        now.threads(),
                                        now.origin().name()));
    }

    /** Returns an interpreter that ran once. */
    private ModelInterpreter ready(List<List<Integer>> shapes, Candidate candidate)
            throws UnplannableException {
        ModelInterpreter built = factory.build(shapes, candidate, false);
        try {
            // Nobody's prediction: it is not counted.
            if (predict(built, zeros(built.description()), () -> {}).isEmpty()) {
                throw new UnplannableException("the engine's tensors changed after planning");
            }
            return built;
        } catch (UnplannableException | RuntimeException | Error e) {
            built.close();
            throw e;
        }
    }

    private static List<ByteBuffer> zeros(ModelInterpreter.Description description) {
        return description.inputs().stream()
                .map(input -> ByteBuffer.allocate((int) input.bytes()))
                .toList();
    }

    /** Returns the graph as the model's file has it. */
    public Graph graph() {
        return model.graph();
    }

    @Override
    public ImmutableList<TensorInfo> inputs() {
        return described.inputs();
    }

    @Override
    public ImmutableList<TensorInfo> outputs() {
        return described.outputs();
    }

    @Override
    public List<OutputTensor> run(List<ByteBuffer> values, List<List<Integer>> shapes) {
        pool.requireOpen();
        if (!model.intact()) {
            // Nor is it when another thread closed it just now.
            pool.requireOpen();
            throw new IllegalStateException(
                    model.file()
                            + " was changed in place after it was loaded: load the model again");
        }
        List<List<Integer>> effective =
                InputShapes.effective(
                        described.inputs(),
                        factory.shapesInFile(),
                        model.inputSignatures(),
                        values,
                        shapes);
        predictions.increment();
        if (effective != factory.shapesInFile()) {
            otherShapes.note(effective);
        } else if (!usesShapesInFile) {
            usesShapesInFile = true;
        }
        while (true) {
            try {
                Optional<List<OutputTensor>> results = attempt(effective, values);
                if (results.isPresent()) {
                    settling.begin();
                    return results.get();
                }
                if (factory.leftToEngine().isEmpty()) {
                    factory.giveUp(effective, "the engine's tensors changed after planning");
                }
            } catch (RefusedShapesException e) {
                logger.debug("{} again, in the CPU kernels", model.graph().name(), e);
            } catch (UnplannableException e) {
                if (waits) {
                    throw new UnplannedModelException(UnplannableException.reason(e), e);
                }
                if (!factory.giveUp(effective, e.getMessage())) {
                    throw new IllegalStateException(model.file() + ": " + e.getMessage(), e);
                }
            }
        }
    }

    private Optional<List<OutputTensor>> attempt(
            List<List<Integer>> shapes, List<ByteBuffer> values) throws UnplannableException {
        ThreadGovernor governor = candidates.governor();
        ThreadGovernor.Gear gear = begin(governor);
        long nanos = 0;
        boolean usual = false;
        try {
            ModelInterpreter interpreter = borrow(shapes, gear.candidate());
            Optional<List<OutputTensor>> results =
                    shapes != factory.shapesInFile() && interpreter.candidate().delegates()
                            ? attemptAt(shapes, interpreter, values)
                            : attempt(interpreter, values);
            nanos = interpreter.lastNanos();
            usual = results.isPresent() && shapes == factory.shapesInFile();
            return results;
        } finally {
            governor.end(gear, nanos, usual);
        }
    }

    /** Predicts with a delegate at other shapes than those in the file, at which it may fail. */
    private Optional<List<OutputTensor>> attemptAt(
            List<List<Integer>> shapes, ModelInterpreter interpreter, List<ByteBuffer> values)
            throws RefusedShapesException {
        try {
            return attempt(interpreter, values);
        } catch (IllegalStateException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw e;
            }
            otherShapes.refuse(shapes, UnplannableException.reason(e));
            throw new RefusedShapesException(UnplannableException.reason(e));
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
            if (waits) {
                noteFirstPlan(interpreter.description());
            } else if (!interpreter.planned() && interpreter.hasShapes(factory.shapesInFile())) {
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

    private void noteFirstPlan(ModelInterpreter.Description first) {
        if (described.plan().isEmpty() && first.plan().isPresent()) {
            described = first.of(described.inputs(), described.outputs());
        }
    }

    /**
     * @param countUnplanned called if it does not run in an arena of the pool
     * @return empty if the plan does not fit any more
     */
    private Optional<List<OutputTensor>> predict(
            ModelInterpreter interpreter, List<ByteBuffer> values, Runnable countUnplanned) {
        if (!interpreter.planned()) {
            countUnplanned.run();
            return Optional.of(interpreter.runStock(values));
        }
        if (factory.leftToEngine().isPresent()) {
            return Optional.empty();
        }
        try {
            Optional<ArenaPool.Lease> leased =
                    interpreter.lease(passesAtOnce, ArenaPool.LONGEST_WAIT);
            if (leased.isEmpty()) {
                return Optional.of(interpreter.runStock(values));
            }
            try (ArenaPool.Lease lease = leased.get()) {
                if (!lease.pooled()) {
                    countUnplanned.run();
                }
                return interpreter.run(values, lease.arena());
            }
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

    @Override
    public PlanReport report() {
        List<PlanReport.Interpreter> interpreters = new ArrayList<>();
        for (ModelInterpreter i : pool.interpreters()) {
            interpreters.add(
                    new PlanReportRecord.Interpreter(
                            i.shapes(), i.description().ownBytes(), i.description().arenaBytes()));
        }
        ModelInterpreter.Description serving = serving();
        PlanReport report =
                new PlanReportRecord(
                        "TFLite",
                        serving.unplannedReason(),
                        PlanFigures.of(serving.plan(), serving.ownBytes()),
                        interpreters,
                        new PlanReportRecord.Predictions(
                                predictions.sum(), unplanned.sum(), 0, 0, 0, 0, 0),
                        delegation.isPresent()
                                ? Optional.of(report(delegation.get(), serving))
                                : Optional.empty(),
                        Optional.empty());
        Optional<String> why = factory.leftToEngine();
        return why.isPresent() ? PlanReportRecord.stopped(report, why.get()) : report;
    }

    /**
     * Returns the description of a current interpreter for the file's shapes, or of the first
     * interpreter if the file has placeholder shapes.
     */
    private ModelInterpreter.Description serving() {
        Candidate now = candidates.governor().serving();
        for (ModelInterpreter i : pool.interpreters()) {
            if (!waits && i.delegates(now) && i.hasShapes(factory.shapesInFile())) {
                return i.description();
            }
        }
        return described;
    }

    private DelegationReport report(Delegation chooses, ModelInterpreter.Description serving) {
        DelegationChoice choice = candidates.choice();
        return new DelegationReportRecord(
                chooses.name(),
                model.graph().operators().size(),
                defers && !usesShapesInFile
                        ? candidates.governor().serving().operators().size()
                        : serving.delegatedOperators(),
                serving.partitions(),
                candidates.governor().serving().threads(),
                choice.origin(),
                choice.reason(),
                choice.id(chooses.engine(), chooses.name()),
                choice.outputs(),
                otherShapes.describe().orElse(""));
    }

    @Override
    public boolean isSettled() {
        return delegation.map(Delegation::isSettled).orElse(true);
    }

    /** Frees everything: idle interpreters at once, others when their prediction ends. */
    @Override
    public void close() {
        delegation.ifPresent(Delegation::close);
        settling.close();
        pool.close();
    }
}
