package org.djlplan.memplan.internal.serving;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.candidates.OperatorCheck;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.events.FlightRecord;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.NeededMemory;
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
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@code .tflite} model in service. It predicts in planned arenas, each time with the candidate
 * that suits the load, and switches to a better choice when there is one. Thread-safe. It may be
 * closed twice, and while predictions run; these predictions end normally.
 */
public final class ServedModel implements TfLiteModel {

    private static final Logger logger = LoggerFactory.getLogger(ServedModel.class);

    /** How long an interpreter that is not the model's last is kept without use. */
    private static final Duration IDLE_AFTER = Duration.ofSeconds(30);

    private final OpenModel model;

    /** Whether nothing can be allocated before the first prediction. */
    private final boolean waits;

    private final InterpreterFactory factory;
    private final ServedCandidates candidates;
    private final InterpreterPool pool;
    private final Settling settling;
    private final Optional<ServedDelegation> delegation;
    private final PlannedRuns runs;
    private final Optional<FirstRequests> requests;

    /**
     * The description of an interpreter for the shapes in the file, or of the first one if the
     * model waits.
     */
    private volatile ModelInterpreter.Description described;

    /**
     * Whether nothing is delegated at the shapes in the file until a prediction has them (see
     * {@link FirstChoice}).
     */
    private volatile boolean defers;

    /**
     * Whether the model was settled once. From then on, preparing an interpreter for a better
     * choice does not make it unsettled.
     */
    private volatile boolean wasSettled;

    /**
     * Opens a model, plans it for the shapes in its file and builds its first interpreter.
     *
     * @param file the model's file
     * @param planner plans it
     * @param delegation closed with the model; empty to run everything in CPU kernels
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if the model cannot be planned here; the message says why
     */
    public static ServedModel open(
            Path file,
            PlanOptions options,
            PlanFinder planner,
            Optional<ServedDelegation> delegation)
            throws IOException, UnplannableException {
        try {
            OpenModel model = OpenModel.of(file);
            Optional<FirstChoice> choice = Optional.empty();
            FirstChoice first;
            ServedModel served;
            try {
                InterpreterFactory factory = factory(model, planner, delegation);
                first = FirstChoice.of(model, factory, delegation, options.threads());
                choice = Optional.of(first);
                served = new ServedModel(model, factory, first, delegation, options);
            } catch (UnplannableException | RuntimeException | Error e) {
                choice.flatMap(FirstChoice::probe).ifPresent(ModelInterpreter::close);
                model.close();
                throw e;
            }
            try {
                served.start(first);
                if (delegation.isPresent()) {
                    delegation.get().attach(served);
                }
                return served;
            } catch (UnplannableException | RuntimeException | Error e) {
                served.close();
                throw e;
            }
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            delegation.ifPresent(ServedDelegation::close);
            throw e;
        }
    }

    /**
     * A model that keeps state gets its own arenas, because its state cannot move to another
     * interpreter if a shared arena is unavailable.
     */
    private static InterpreterFactory factory(
            OpenModel model, PlanFinder planner, Optional<ServedDelegation> delegation) {
        return new InterpreterFactory(
                model.sessions(),
                model.graph(),
                planner,
                delegation.isPresent()
                        ? delegation.get().delegates()
                        : Delegates.named(Delegates.XNNPACK),
                model.keepsState() ? new ArenaPool() : ArenaPool.shared(),
                !model.keepsState()
                        && (delegation.isEmpty() || delegation.get().sharesWorkspaces()));
    }

    /**
     * Creates a model with as many interpreters as passes may run at once; if it keeps state, with
     * one, because a second interpreter would have separate state.
     */
    private ServedModel(
            OpenModel model,
            InterpreterFactory factory,
            FirstChoice first,
            Optional<ServedDelegation> delegation,
            PlanOptions options) {
        this.model = model;
        this.factory = factory;
        this.delegation = delegation;
        waits = first.waits();
        defers = first.defers();
        candidates =
                new ServedCandidates(
                        model.graph().name(),
                        model.keepsState(),
                        factory,
                        first.choice(),
                        new OtherShapes(model.graph().name()));
        int interpreters = model.keepsState() ? 1 : options.workers().interpreters();
        runs =
                new PlannedRuns(
                        factory,
                        interpreters,
                        options.workers().passes(options.threads()),
                        model.keepsState());
        requests = requests();
        pool = new InterpreterPool(interpreters, IDLE_AFTER, candidates, model::close);
        settling = new Settling(model::releasePages);
    }

    /** 8-bit models are compared operator by operator, which takes more memory. */
    private Optional<FirstRequests> requests() {
        return model.keepsState()
                ? Optional.empty()
                : delegation
                        .flatMap(ServedDelegation::requestTolerance)
                        .filter(accepted -> OperatorCheck.bytes(model.graph()).isEmpty())
                        .map(accepted -> new FirstRequests(model.graph(), accepted, factory, runs));
    }

    /** Builds the first interpreter. */
    private void start(FirstChoice first) throws UnplannableException {
        if (waits) {
            described =
                    ModelInterpreter.Description.before(
                            model.inputsBeforeShapes(), model.outputsBeforeShapes());
            factory.planNext();
            return;
        }
        Optional<ModelInterpreter.Description> known = first.described();
        pool.switchTo(() -> {}, first.takeProbe());
        if (known.isPresent()) {
            described = known.get();
        } else {
            ModelInterpreter serves =
                    pool.borrow(factory.shapesInFile(), candidates.choice().lightest());
            described = serves.description();
            pool.giveBack(serves);
        }
        noteDelegation();
    }

    /** Work while the model is kept from ending. */
    private interface Visit {
        void run() throws UnplannableException;
    }

    /** Does nothing if the model is closed. If the work fails, a warning says so. */
    private void visit(Visit work) {
        if (!pool.enter()) {
            return;
        }
        try {
            work.run();
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
     * Uses another choice from the next prediction on. Before that, the first interpreter of the
     * new choice is built and run once, so that no prediction waits for it; unless one exists, or
     * only other shapes than those in the file are expected. If that fails, the model keeps its
     * choice, with a warning. Stateful models and closed ones keep theirs, too.
     */
    public void switchTo(DelegationChoice choice) {
        if (model.keepsState()) {
            if (choice.lightest().equals(candidates.choice().lightest())) {
                candidates.choose(choice.only(choice.lightest()));
            } else {
                logger.info(
                        "{} keeps state, so its delegation does not change", model.graph().name());
            }
            return;
        }
        visit(() -> tryChoice(choice));
    }

    private void tryChoice(DelegationChoice choice) throws UnplannableException {
        Candidate lightest = choice.lightest();
        // An interpreter of an earlier choice may be closed before the switch.
        Optional<ModelInterpreter.Description> there = descriptionOf(lightest);
        Optional<ModelInterpreter> first = defers ? Optional.empty() : readyUnless(there, lightest);
        Optional<String> difference =
                first.isPresent() && lightest.delegates()
                        ? requests.flatMap(each -> each.compare(first.get()))
                        : Optional.empty();
        if (difference.isEmpty()) {
            serve(choice, first, there);
            if (!lightest.delegates() && choice.origin() != DelegationReport.Origin.UNVERIFIED) {
                requests.ifPresent(FirstRequests::close);
            }
            return;
        }
        first.get().close();
        // While other sets are measured, the CPU kernels go on.
        if (choice.origin() != DelegationReport.Origin.VERIFIED) {
            withdraw(difference.get(), choice.origin());
        }
    }

    /** Returns an interpreter for the shapes in the file that ran once; empty if there is one. */
    private Optional<ModelInterpreter> readyUnless(
            Optional<ModelInterpreter.Description> there, Candidate candidate)
            throws UnplannableException {
        return there.isPresent()
                ? Optional.empty()
                : Optional.of(runs.ready(factory.shapesInFile(), candidate));
    }

    /**
     * @param first a new interpreter for the shapes in the file
     * @param there describes an existing one
     */
    private void serve(
            DelegationChoice choice,
            Optional<ModelInterpreter> first,
            Optional<ModelInterpreter.Description> there) {
        first.map(ModelInterpreter::description).or(() -> there).ifPresent(now -> described = now);
        pool.switchTo(() -> candidates.choose(choice), first);
        noteDelegation();
        if (first.isPresent()) {
            settling.settleNow();
        }
    }

    /** Compares the outputs of the first requests that a delegate served. */
    private void compareServed(FirstRequests served) throws UnplannableException {
        Optional<String> difference =
                served.compareServed(candidates.choice().lightest().threads());
        if (difference.isPresent()) {
            withdraw(difference.get(), candidates.choice().origin());
        }
        factory.trimArenas();
    }

    /** Delegates nothing from now on. */
    private void withdraw(String difference, DelegationReport.Origin origin)
            throws UnplannableException {
        String why = "for a request of the application, output " + difference;
        logger.warn("{} runs in the CPU kernels: {}", model.graph().name(), why);
        Candidate cpu = Candidate.cpu(candidates.choice().lightest().threads());
        Optional<ModelInterpreter.Description> there = descriptionOf(cpu);
        serve(
                new DelegationChoice(cpu, origin, "CPU kernels: " + why),
                readyUnless(there, cpu),
                there);
        delegation.ifPresent(each -> each.withdraw("CPU kernels: " + why));
    }

    /**
     * Requests choices for the shapes of predictions, if these differ from the shapes in the file
     * and the model has no state.
     *
     * @param chooser answers with {@link #useAt}
     * @param stored the mixes for which the chooser has stored results
     */
    public void chooseOtherShapesWith(ShapeChooser chooser, List<ShapeMix> stored) {
        if (!model.keepsState()) {
            candidates.otherShapes().chooseWith(chooser, stored);
        }
    }

    /**
     * Uses a choice for all shapes that a mix encloses, from the next predictions on. If it
     * delegates, an interpreter is built and run once before that, at the largest of the shapes,
     * because XNNPACK keeps memory for the largest shapes so far, and replaces all of it for larger
     * ones. If that fails, the next prediction tries it again.
     */
    public void useAt(ShapeMix mix, DelegationChoice choice) {
        visit(
                () -> {
                    Candidate serves =
                            OtherShapes.candidate(choice, candidates.choice().lightest());
                    Optional<List<List<Integer>>> largest = candidates.otherShapes().largest(mix);
                    Optional<ModelInterpreter> first =
                            serves.delegates() && largest.isPresent()
                                    ? readyAt(largest.get(), serves)
                                    : Optional.empty();
                    pool.switchTo(() -> candidates.otherShapes().use(mix, choice), first);
                    if (first.isPresent()) {
                        factory.trimArenas();
                        settling.settleNow();
                    }
                });
    }

    private Optional<ModelInterpreter> readyAt(List<List<Integer>> shapes, Candidate candidate) {
        try {
            return Optional.of(runs.ready(shapes, candidate));
        } catch (UnplannableException | RuntimeException e) {
            logger.debug("{} delegates nothing at {} yet", model.graph().name(), shapes, e);
            return Optional.empty();
        }
    }

    /**
     * Records the delegation, and releases the file's pages if a delegate has packed its weights.
     */
    private void noteDelegation() {
        if (described.partitions() > 0) {
            model.releasePages();
        }
        if (delegation.isPresent()) {
            FlightRecord.delegation(
                    model.graph().name(), () -> delegated(delegation.get(), serving()));
        }
    }

    /** Returns whether the delegation may change while the model serves. */
    boolean choosesDelegation() {
        return delegation.isPresent() && !model.keepsState();
    }

    /** Returns the identity of the open file, see {@link OpenModel#identity}. */
    public String identity() {
        return model.identity();
    }

    /** Returns the graph in the model's file. */
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
        checkState(pool.begin(), "the model is closed");
        try {
            checkState(
                    model.intact(),
                    "%s was changed in place after it was loaded: load the model again",
                    model.file());
            List<List<Integer>> effective =
                    InputShapes.effective(
                            described.inputs(),
                            factory.shapesInFile(),
                            model.inputSignatures(),
                            values,
                            shapes);
            return runs.atGate(effective, () -> predict(effective, values));
        } finally {
            pool.end();
        }
    }

    private List<OutputTensor> predict(List<List<Integer>> effective, List<ByteBuffer> values) {
        if (effective != factory.shapesInFile()) {
            candidates.otherShapes().note(effective);
        } else if (defers) {
            defers = false;
        }
        while (true) {
            try {
                Optional<List<OutputTensor>> results = attempt(effective, values);
                if (results.isPresent()) {
                    settling.afterPrediction();
                    return results.get();
                }
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

    /**
     * @return empty if another attempt is needed
     */
    private Optional<List<OutputTensor>> attempt(
            List<List<Integer>> shapes, List<ByteBuffer> values) throws UnplannableException {
        ThreadGovernor governor = candidates.governor();
        ThreadGovernor.Gear gear = governor.begin();
        boolean mayBeRefused = candidates.mayBeRefused(shapes, gear.candidate());
        long nanos = 0;
        boolean usual = false;
        try {
            ModelInterpreter interpreter = pool.borrow(shapes, gear.candidate());
            Optional<List<OutputTensor>> results = attempt(interpreter, values);
            nanos = interpreter.lastNanos();
            usual = results.isPresent() && shapes == factory.shapesInFile();
            if (usual && requests.isPresent()) {
                note(requests.get(), values, results.get(), interpreter.candidate().delegates());
            }
            if (results.isEmpty() && factory.leftToEngine().isEmpty()) {
                boolean unused = factory.giveUp(shapes, PlannedRuns.CHANGED);
            }
            return results;
        } catch (UnplannableException | RuntimeException e) {
            // The choice may have changed meanwhile.
            if (!mayBeRefused && !candidates.mayBeRefused(shapes, gear.candidate())) {
                throw e;
            }
            candidates.otherShapes().refuse(shapes, UnplannableException.reason(e));
            return Optional.empty();
        } finally {
            governor.end(gear, nanos, usual);
        }
    }

    /** Copies a request that a delegate served, or may serve once it is measured. */
    private void note(
            FirstRequests first,
            List<ByteBuffer> values,
            List<OutputTensor> outputs,
            boolean delegated) {
        boolean matters = delegated || !delegation.map(ServedDelegation::isSettled).orElse(true);
        if (matters && first.note(values, outputs, delegated) && delegated) {
            boolean unused = Later.start(() -> visit(() -> compareServed(first)));
        }
    }

    /**
     * Predicts. An interpreter that failed is used again only if the model keeps state: as in the
     * stock engine, the next prediction goes on from there.
     */
    private Optional<List<OutputTensor>> attempt(
            ModelInterpreter interpreter, List<ByteBuffer> values) {
        boolean fit = model.keepsState();
        try {
            if (waits) {
                noteFirstPlan(interpreter.description());
            } else if (!interpreter.planned() && interpreter.hasShapes(factory.shapesInFile())) {
                described = interpreter.description();
            }
            Optional<List<OutputTensor>> results = runs.run(interpreter, values);
            fit = results.isPresent();
            return results;
        } finally {
            if (fit) {
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

    @Override
    public Optional<NeededMemory> needed() {
        return Optional.of(runs.needed());
    }

    @Override
    public PlanReport report() {
        ModelInterpreter.Description serving = serving();
        return new PlanReport(
                "TFLite",
                factory.leftToEngine().or(serving::unplannedReason),
                PlanFigures.of(serving.plan(), serving.ownBytes()),
                pool.interpreters().stream()
                        .map(
                                each ->
                                        new PlanReport.Interpreter(
                                                each.shapes(),
                                                each.description().ownBytes(),
                                                each.description().arenaBytes()))
                        .toList(),
                new PlanReport.Predictions(runs.predictions(), runs.unplanned(), 0, 0, 0, 0),
                delegation.map(each -> delegated(each, serving)),
                Optional.empty(),
                Optional.empty(),
                runs.needed().peak());
    }

    private DelegationReport delegated(
            ServedDelegation chosen, ModelInterpreter.Description serving) {
        DelegationChoice choice = candidates.choice();
        Candidate candidate = candidates.governor().serving();
        return new DelegationReport(
                chosen.name(),
                model.graph().operators().size(),
                // Its delegate will run them later.
                defers ? candidate.operators().size() : serving.delegatedOperators(),
                serving.partitions(),
                candidate.threads(),
                choice.origin(),
                choice.reason(),
                choice.id(chosen.engine(), chosen.name()),
                choice.outputs(),
                candidates.otherShapes().describe().or(this::unmeasuredShapes).orElse(""));
    }

    /** Returns a text about shapes that were not measured; empty if no prediction had such. */
    private Optional<String> unmeasuredShapes() {
        return !waits
                        && pool.interpreters().stream()
                                .anyMatch(each -> !each.hasShapes(factory.shapesInFile()))
                ? Optional.of("CPU kernels, because the delegate was not measured at them")
                : Optional.empty();
    }

    /**
     * Returns the description of a current interpreter for the file's shapes, or of the first
     * interpreter if the file has placeholder shapes.
     */
    private ModelInterpreter.Description serving() {
        return waits ? described : descriptionOf(candidates.governor().serving()).orElse(described);
    }

    /** Describes an interpreter of a candidate for the shapes in the file, if there is one. */
    private Optional<ModelInterpreter.Description> descriptionOf(Candidate candidate) {
        for (ModelInterpreter each : pool.interpreters()) {
            if (each.delegates(candidate) && each.hasShapes(factory.shapesInFile())) {
                return Optional.of(each.description());
            }
        }
        return Optional.empty();
    }

    @Override
    public boolean keepsState() {
        return model.keepsState();
    }

    @Override
    public boolean isSettled() {
        boolean settled =
                delegation.map(ServedDelegation::isSettled).orElse(true)
                        && (wasSettled || !pool.isVisited());
        wasSettled |= settled;
        return settled;
    }

    /** Frees everything after the last prediction that has begun. */
    @Override
    public void close() {
        delegation.ifPresent(ServedDelegation::close);
        settling.close();
        pool.close();
    }
}
