package org.djlplan.memplan.internal.runtime.torch;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.config.WorkerCount;
import org.djlplan.memplan.internal.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.internal.report.PlanReportRecord;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.NoArenaException;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.internal.runtime.PlanFigures;
import org.djlplan.memplan.internal.runtime.Settling;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The planned memory of one PyTorch model. Thread-safe. */
public final class TorchMemory implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(TorchMemory.class);

    /** How long closing waits for recordings to be planned and stored. */
    private static final Duration LONGEST_ANALYSIS = Duration.ofSeconds(5);

    private final String model;
    private final Passes.Model passes;
    private final PlansOnDemand plans;
    private final Optional<StreamedWeights> weights;
    private final AllocationSequence.Tally tally = new AllocationSequence.Tally();
    private final TorchArenas arenas;
    private final AllocationSequences sequences;
    private final ShapePlans shapes;

    /** Returns memory that recording and planning freed; the weights are not read from a file. */
    private final Settling settling = new Settling(() -> {});

    private volatile Optional<String> stopped = Optional.empty();
    private volatile boolean closed;

    /**
     * @param model its name, for warnings
     * @param workers how many passes run at once, which limits its arenas
     * @param plans plans the model; called at the first prediction, when the model is loaded
     * @param weights the weights of a model with a budget; closed with this object
     */
    public TorchMemory(
            String model,
            WorkerCount workers,
            Supplier<AllocationPlans> plans,
            Optional<StreamedWeights> weights) {
        this.model = model;
        this.weights = weights;
        this.plans = new PlansOnDemand(plans);
        // First, because it binds the native library.
        passes = Passes.open();
        try {
            // Predictions of a model with a budget take turns, and its budget covers its arena
            // only.
            arenas =
                    weights.isPresent()
                            ? newArenas(Optional.empty(), new ArenaPool(), 1)
                            : newArenas(
                                    Optional.of(OutputArena.shared().use()),
                                    ArenaPool.shared(),
                                    workers.arenas());
        } catch (RuntimeException | Error e) {
            passes.close();
            throw e;
        }
        sequences = new AllocationSequences(model, this.plans, arenas, tally);
        shapes = new ShapePlans(this.plans, arenas, Analysis::offer, tally, System::nanoTime);
    }

    private TorchArenas newArenas(Optional<OutputArena.Use> outputs, ArenaPool pool, int most) {
        return new TorchArenas(
                new NativeWatch(outputs), pool, most, TorchPrediction.Guard.handing(this::stop));
    }

    /**
     * Begins a prediction on this thread with inputs of these types. If anything fails here or when
     * the prediction ends, such as memory for the arena, the engine makes the model's allocations
     * from then on, with one warning.
     *
     * @param inputs not called if predictions seldom have the same types
     * @param mayWait whether it may wait for an arena that another prediction returns
     */
    public TorchPrediction begin(Supplier<ImmutableList<ArrayType>> inputs, boolean mayWait) {
        if (weights.isEmpty()) {
            return allocate(inputs, mayWait).counted();
        }
        PredictionKind kind = PredictionKind.of(inputs.get());
        return inTurn(() -> allocate(inputs, mayWait), weights.get().begin(kind, arenaBytes()));
    }

    /** Begins a prediction on this thread with inputs of these types. */
    public TorchPrediction begin(List<ArrayType> inputs, boolean mayWait) {
        ImmutableList<ArrayType> known = ImmutableList.copyOf(inputs);
        return begin(() -> known, mayWait);
    }

    private static TorchPrediction inTurn(
            Supplier<TorchPrediction> begins, Optional<StreamedWeights.Turn> turn) {
        try {
            TorchPrediction prediction = begins.get().counted();
            prediction.atPause(turn);
            return prediction;
        } catch (RuntimeException | Error e) {
            turn.ifPresent(StreamedWeights.Turn::end);
            throw e;
        }
    }

    private TorchPrediction allocate(Supplier<ImmutableList<ArrayType>> inputs, boolean mayWait) {
        if (closed || stopped.isPresent() || VirtualThreads.isCurrent()) {
            countUnplanned();
            return TorchPrediction.unplanned();
        }
        tally.predictions.incrementAndGet();
        settling.begin();
        // The model may be closed meanwhile.
        NativeLoader.Use beginning = NativeLoader.hold();
        try {
            return begin(inputs, mayWait ? ArenaPool.LONGEST_WAIT : Duration.ZERO);
        } catch (RuntimeException | Error e) {
            stop(e);
            tally.unplannedPredictions.incrementAndGet();
            return TorchPrediction.unplanned();
        } finally {
            beginning.close();
        }
    }

    /**
     * Begins a prediction. Rare inputs have no plan of their own; formulas of other shapes may
     * place them.
     */
    private TorchPrediction begin(Supplier<ImmutableList<ArrayType>> inputs, Duration wait) {
        if (sequences.isPassedOver()) {
            tally.unplannedPredictions.incrementAndGet();
            return arenas.begin(wait, tally).orElseGet(TorchPrediction::unplanned);
        }
        Optional<PredictionKind> known = kind(inputs);
        if (known.isEmpty()) {
            tally.unplannedPredictions.incrementAndGet();
            return TorchPrediction.unplanned();
        }
        PredictionKind kind = known.get();
        AllocationSequence sequence = sequences.ofPrediction(kind);
        if (sequence != null) {
            return sequence.begin(wait);
        }
        Optional<TorchPrediction> begun = shapes.begin(kind.inputs(), kind.threads(), wait);
        if (begun.isPresent()) {
            sequences.foundOther();
            return begun.get();
        }
        tally.unplannedPredictions.incrementAndGet();
        begun = shapes.beginOnline(kind.inputs(), kind.threads(), wait);
        return begun.isPresent() ? begun.get() : TorchPrediction.unplanned();
    }

    /**
     * Returns the kind of a prediction; empty if its inputs have no types, for example because one
     * is closed. This affects only this prediction, and the engine reports the error.
     */
    private Optional<PredictionKind> kind(Supplier<ImmutableList<ArrayType>> inputs) {
        try {
            return Optional.of(PredictionKind.of(inputs.get()));
        } catch (RuntimeException e) {
            logger.debug("{} is called with inputs that have no types", model, e);
            return Optional.empty();
        }
    }

    /**
     * Predicts the memory of a prediction in bytes: its arena and its outputs. Empty if the
     * recordings so far do not determine it. Waits for a limited time until pending recordings are
     * analyzed.
     */
    public OptionalLong expectedBytes(List<ArrayType> inputs) {
        if (closed || stopped.isPresent()) {
            return OptionalLong.empty();
        }
        int threads = TorchSettings.threads();
        OptionalLong known = shapes.bytes(inputs, threads);
        if (known.isPresent()) {
            return known;
        }
        settleOwn();
        return shapes.bytes(inputs, threads);
    }

    /**
     * Begins a pass on this thread that allocates differently from predictions. Memory that it
     * frees is returned to the system at once, because later predictions do not need it.
     */
    public TorchPrediction beginOneOff() {
        return inTurn(this::allocateOneOff, weights.flatMap(StreamedWeights::beginOneOff));
    }

    private TorchPrediction allocateOneOff() {
        if (closed || stopped.isPresent() || VirtualThreads.isCurrent()) {
            return TorchPrediction.unplanned();
        }
        // The model may be closed meanwhile.
        NativeLoader.Use passing = NativeLoader.hold();
        try {
            return arenas.beginOneOff().orElseGet(TorchPrediction::unplanned);
        } catch (RuntimeException | Error e) {
            stop(e);
            return TorchPrediction.unplanned();
        } finally {
            passing.close();
        }
    }

    private void stop(Throwable problem) {
        Throwable root = problem;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        synchronized (this) {
            if (stopped.isPresent() || closed) {
                return;
            }
            stopped =
                    Optional.of(
                            root instanceof NoArenaException ? root.getMessage() : root.toString());
        }
        logger.warn("{} runs in the engine's own memory from now on: {}", model, stopped.get());
        logger.debug("This is what happened", problem);
        sequences.close();
        shapes.close();
        arenas.stopOnline();
    }

    /** Returns whether the weights are in memory only while a prediction begun here needs them. */
    public boolean streamsWeights() {
        return weights.isPresent();
    }

    /** Waits for a limited time until all recordings so far are planned. */
    public static void settle() {
        Analysis.offerDeferred();
        Analysis.await(LONGEST_ANALYSIS);
    }

    /** Waits for a limited time until the recordings of this model are planned. */
    private void settleOwn() {
        sequences.planAnyway();
        Analysis.await(LONGEST_ANALYSIS);
    }

    /** Counts a prediction that was not planned. */
    public void countUnplanned() {
        tally.predictions.incrementAndGet();
        tally.unplannedPredictions.incrementAndGet();
    }

    /** Runs a pass in the engine's own memory. */
    public static <T> T runUnplanned(Supplier<T> pass) {
        TorchPrediction prediction = TorchPrediction.unplanned().counted();
        try {
            return pass.get();
        } finally {
            prediction.pause();
        }
    }

    /** Returns when the arrays of an imperative block are closed, if it is known. */
    public Optional<LivenessTrace> liveness(List<ArrayType> inputs) {
        if (closed || stopped.isPresent()) {
            return Optional.empty();
        }
        try {
            return sequences.liveness(PredictionKind.of(inputs));
        } catch (RuntimeException | Error e) {
            stop(e);
            return Optional.empty();
        }
    }

    /** Sets when the arrays of an imperative block are closed. */
    public void keepLiveness(List<ArrayType> inputs, LivenessTrace trace) {
        if (closed || stopped.isPresent()) {
            return;
        }
        try {
            sequences.keepLiveness(PredictionKind.of(inputs), trace);
        } catch (RuntimeException | Error e) {
            stop(e);
        }
    }

    /** Returns the plan in use with the largest arena. */
    public Optional<EvaluatedPlan> largest() {
        return sequences.largest();
    }

    /** Returns the size of the arena of a model with a budget, which it does not share. */
    private long arenaBytes() {
        return Math.max(largest().map(EvaluatedPlan::arenaBytes).orElse(0L), arenas.bytes());
    }

    /**
     * Replaces the budget of a model that has one.
     *
     * @throws BudgetTooSmallException if predictions are known to exceed it
     */
    public void setBudget(BudgetResolver budget) throws BudgetTooSmallException {
        weights.orElseThrow().setBudget(budget, arenaBytes());
    }

    /** Returns the report so far, with the figures of the largest plan. */
    public PlanReport report() {
        Optional<EvaluatedPlan> largest = largest();
        return new PlanReportRecord(
                "PyTorch",
                stopped,
                PlanFigures.of(largest, 0),
                List.of(),
                new PlanReportRecord.Predictions(
                        tally.predictions.get(),
                        tally.unplannedPredictions.get(),
                        tally.online.get(),
                        tally.unplannedAllocations.get(),
                        tally.recordings.get(),
                        tally.escaped.get(),
                        tally.byFormula.get()),
                Optional.empty(),
                weights.map(streamed -> streamed.report(arenaBytes())));
    }

    @Override
    public void close() {
        settleOwn();
        closed = true;
        settling.close();
        sequences.close();
        shapes.close();
        plans.close();
        weights.ifPresent(StreamedWeights::close);
        arenas.close();
        passes.close();
    }
}
