package org.djlplan.memplan.internal.runtime.torch;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.InputSizes;
import org.djlplan.memplan.internal.runtime.Keeping;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.NeededMemory;
import org.djlplan.memplan.internal.runtime.NoArenaException;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.internal.runtime.PredictionTally;
import org.djlplan.memplan.internal.runtime.Settling;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.internal.usage.AllocationTrace;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of one PyTorch model's predictions. Each allocation gets the lowest free place in an
 * arena ({@link TorchArenas}); where that takes much more memory than is in use at once,
 * predictions follow a plan ({@link RecurringPlans}). Thread-safe.
 */
public final class TorchMemory implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(TorchMemory.class);

    private final String model;
    private final Passes.Model passes;
    private final Function<AllocationTrace, EvaluatedPlan> planner;
    private final Optional<StreamedWeights> weights;
    private final PredictionTally tally = new PredictionTally();
    private final TorchArenas arenas;

    /** Empty, and its class not loaded, until a prediction shows that a plan may pay. */
    private volatile Optional<RecurringPlans> plans = Optional.empty();

    private final Recording recording = new Recording();

    /** Returns memory that loading freed; the weights are not read from a file. */
    private final Settling settling = Settling.afterLoad();

    private volatile Optional<String> stopped = Optional.empty();
    private volatile boolean closed;

    /** A recording for commands. */
    private static final class Recording {
        private final AtomicBoolean wanted = new AtomicBoolean();
        private volatile Optional<AllocationTrace> last = Optional.empty();
    }

    /**
     * @param model its name, for warnings
     * @param planner plans recorded allocations
     * @param weights the weights of a model with a budget; closed with this object
     */
    public TorchMemory(
            String model,
            Function<AllocationTrace, EvaluatedPlan> planner,
            Optional<StreamedWeights> weights) {
        this.model = model;
        this.weights = weights;
        this.planner = planner;
        // First, because it binds the native library.
        passes = Passes.open();
        try {
            // Predictions of a model with a budget take turns, and its budget covers its arena
            // only.
            arenas =
                    weights.isPresent()
                            ? newArenas(Optional.empty(), new ArenaPool())
                            : newArenas(
                                    Optional.of(OutputArena.shared().use(Keeping.LONG)),
                                    ArenaPool.shared());
        } catch (RuntimeException | Error e) {
            passes.close();
            throw e;
        }
    }

    private TorchArenas newArenas(Optional<OutputArena.Use> outputs, ArenaPool pool) {
        return new TorchArenas(outputs, pool, weights.isPresent(), this::stop);
    }

    /**
     * Begins a prediction on this thread with inputs of these types. If anything fails here or when
     * the prediction ends, such as memory for the arena, the engine makes the model's allocations
     * from then on, with one warning.
     *
     * @param sizes of the inputs
     * @param inputs not called unless the model has plans or a budget
     */
    public TorchPrediction begin(InputSizes sizes, Supplier<ImmutableList<ArrayType>> inputs) {
        if (weights.isEmpty()) {
            return allocate(sizes, inputs).counted();
        }
        PredictionKind kind = PredictionKind.of(inputs.get());
        return inTurn(() -> allocate(sizes, inputs), weights.get().begin(kind, arenas));
    }

    private static TorchPrediction inTurn(
            Supplier<TorchPrediction> begins, Optional<StreamedWeights.Turn> turn) {
        try {
            TorchPrediction prediction = begins.get().counted();
            turn.ifPresent(prediction::during);
            return prediction;
        } catch (RuntimeException | Error e) {
            turn.ifPresent(begun -> begun.end(0, true));
            throw e;
        }
    }

    private TorchPrediction allocate(InputSizes sizes, Supplier<ImmutableList<ArrayType>> inputs) {
        if (closed || stopped.isPresent() || VirtualThreads.isCurrent()) {
            countUnplanned();
            return TorchPrediction.unplanned();
        }
        settling.afterPrediction();
        // The model may be closed meanwhile.
        NativeLoader.Use beginning = NativeLoader.hold();
        try {
            return newPrediction(sizes, inputs);
        } catch (RuntimeException | Error e) {
            stop(e);
            countUnplanned();
            return TorchPrediction.unplanned();
        } finally {
            beginning.close();
        }
    }

    private TorchPrediction newPrediction(
            InputSizes sizes, Supplier<ImmutableList<ArrayType>> inputs) {
        boolean recorded = recording.wanted.compareAndSet(true, false);
        Optional<RecurringPlans> planned = recorded ? Optional.empty() : plans;
        Optional<PredictionKind> kind = planned.flatMap(unused -> kind(inputs));
        Optional<TorchPrediction> begun =
                kind.isPresent()
                        ? planned.get().begin(kind.get(), sizes)
                        : arenas.begin(
                                recorded, (run, failed) -> endOnline(run, failed, recorded, sizes));
        if (begun.isEmpty()) {
            countUnplanned();
        }
        return begun.orElseGet(TorchPrediction::unplanned);
    }

    private TorchArenas.Outcome endOnline(
            TorchArenas.Run run, boolean failed, boolean recorded, InputSizes sizes) {
        if (recorded) {
            recording.last = failed ? Optional.empty() : run.recorded();
        }
        TorchArenas.Outcome outcome = run.finish();
        if (failed) {
            tally.oneOff();
            return outcome;
        }
        tally.online(sizes, outcome.counters());
        if (outcome.isWasteful()) {
            planRecurring();
        }
        return outcome;
    }

    private synchronized void planRecurring() {
        if (plans.isEmpty() && !closed && stopped.isEmpty()) {
            plans = Optional.of(new RecurringPlans(model, planner, arenas, tally));
        }
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
     * Begins a pass on this thread that allocates differently from predictions. Memory that it
     * frees is returned to the system at once, because later predictions do not need it.
     */
    public TorchPrediction beginOneOff() {
        return inTurn(
                this::allocateOneOff, weights.flatMap(streamed -> streamed.beginOneOff(arenas)));
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
        forgetPlans();
        arenas.stopOnline();
    }

    /** Returns whether the weights are in memory only while a prediction begun here needs them. */
    public boolean streamsWeights() {
        return weights.isPresent();
    }

    /** Counts a prediction outside of arenas. */
    public void countUnplanned() {
        tally.outsideArenas();
    }

    /** Counts a prediction that {@link #beginOneOff} begins. */
    public void countOneOff() {
        tally.oneOff();
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

    /** Returns to the system the memory of idle arenas of the model's pool. */
    public void trim() {
        arenas.trim();
    }

    /** Records the allocations of the next prediction. */
    public void recordNext() {
        recording.wanted.set(true);
    }

    /** Returns the allocations of the prediction that was recorded last. */
    public Optional<AllocationTrace> recorded() {
        return recording.last;
    }

    /** Returns the memory that predictions needed. */
    public NeededMemory needed() {
        return tally.needed();
    }

    /** Returns the size of the arena of a model with a budget, which it does not share. */
    private long arenaBytes() {
        return Math.max(tally.reachedBytes(), arenas.bytes());
    }

    /**
     * Replaces the budget of a model that has one.
     *
     * @throws BudgetTooSmallException if predictions are known to exceed it
     */
    public void setBudget(BudgetResolver budget) throws BudgetTooSmallException {
        weights.orElseThrow().setBudget(budget, arenas);
    }

    /** Returns the report so far. */
    public PlanReport report() {
        return new PlanReport(
                "PyTorch",
                stopped,
                tally.plan(),
                List.of(),
                tally.predictions(),
                Optional.empty(),
                weights.map(streamed -> streamed.report(arenaBytes())),
                Optional.empty(),
                tally.needed().peak());
    }

    /** Forgets plans, because the model's predictions allocate differently from now on. */
    public synchronized void forgetPlans() {
        plans.ifPresent(RecurringPlans::close);
        plans = Optional.empty();
    }

    @Override
    public void close() {
        closed = true;
        settling.close();
        forgetPlans();
        weights.ifPresent(StreamedWeights::close);
        arenas.close();
        passes.close();
    }
}
