package org.djlplan.memplan.internal.runtime.torch;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
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
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.base.Suppliers;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The planned memory of one PyTorch model. Thread-safe. */
public final class TorchMemory implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(TorchMemory.class);

    /** A model that sees more kinds of inputs than this forgets those it has not seen longest. */
    private static final int MOST_SEQUENCES = 64;

    private final int mostArenas;

    /** How long closing waits for recordings to be planned and stored. */
    private static final Duration LONGEST_ANALYSIS = Duration.ofSeconds(5);

    private final ArenaPool pool;
    private final Supplier<AllocationPlans> plans;
    private final AllocationWatch watch;
    private final OnlineArenas online;
    private final ShapePlans shapes;
    private final AllocationSequence.Tally tally = new AllocationSequence.Tally();

    /** How many sequences were made so far. */
    private final AtomicInteger made = new AtomicInteger();

    /**
     * The sequences in order of their last use. Guarded by itself, because what is dropped is
     * closed outside of the lock.
     */
    private final Map<Kind, AllocationSequence> sequences = new LinkedHashMap<>(16, 0.75f, true);

    /** Held while a sequence is made. A stored plan may be read meanwhile. */
    private final Object making = new Object();

    private final String model;
    private final boolean isRehearsal;
    private final NativeLoader.Use use;
    private final Passes.Model passes;
    private final Optional<StreamedWeights> weights;

    /** Returns memory that recording and planning freed; the weights are not read from a file. */
    private final Settling settling = new Settling(() -> {});

    private volatile Optional<String> stopped = Optional.empty();
    private volatile Optional<AllocationPlans> asked = Optional.empty();
    private volatile boolean closed;

    private final Recurrence<Kind> recurrence = new Recurrence<>();
    private final TorchPrediction.Guard guard = TorchPrediction.Guard.handing(this::stop);

    /** The conditions that determine the allocations of predictions. */
    private record Kind(ImmutableList<ArrayType> inputs, int threads) {

        static Kind of(List<ArrayType> inputs) {
            return new Kind(ImmutableList.copyOf(inputs), TorchSettings.current().threads());
        }

        // Linking a record's own at run time makes the first predictions slower.
        @Override
        public boolean equals(Object object) {
            return object instanceof Kind other
                    && threads == other.threads
                    && inputs.equals(other.inputs);
        }

        @Override
        public int hashCode() {
            return 31 * threads + inputs.hashCode();
        }
    }

    /**
     * @param model its name, for warnings
     * @param workers how many passes run at once, which limits its arenas
     * @param plans plans the model; asked for at the first prediction, when the model is loaded
     * @param weights the weights of a model with a budget; closed with this object
     */
    public TorchMemory(
            String model,
            WorkerCount workers,
            Supplier<AllocationPlans> plans,
            Optional<StreamedWeights> weights) {
        this(model, false, workers, plans, weights);
    }

    private TorchMemory(
            String model,
            boolean isRehearsal,
            WorkerCount workers,
            Supplier<AllocationPlans> plans,
            Optional<StreamedWeights> weights) {
        this.model = model;
        this.isRehearsal = isRehearsal;
        this.weights = weights;
        this.plans = Suppliers.memoize(plans::get);
        try {
            use = TorchNative.use();
            watch =
                    new NativeWatch(
                            weights.isPresent()
                                    ? Optional.empty()
                                    : Optional.of(OutputArena.shared().use()));
        } catch (UnsupportedPlatformException e) {
            throw new IllegalStateException("libtorch's allocator is not attached", e);
        }
        // Predictions of a model with a budget take turns, and its budget covers its arena only.
        pool = weights.isPresent() ? new ArenaPool() : ArenaPool.shared();
        mostArenas = weights.isPresent() ? 1 : workers.arenas();
        online = new OnlineArenas(watch, pool, mostArenas);
        shapes =
                new ShapePlans(
                        this::known,
                        watch,
                        online,
                        Analysis::offer,
                        tally,
                        guard,
                        System::nanoTime);
        passes = Passes.open();
    }

    /**
     * Loads the classes of a first prediction by beginning and ending an empty one, which is not
     * planned. Needs no engine. Problems are not logged.
     *
     * @param plans a plan of any model
     */
    public static void rehearse(AllocationPlans plans) {
        WorkerCount workers = new WorkerCount(WorkerCount.AUTO);
        try (TorchMemory memory =
                new TorchMemory("rehearsal", true, workers, () -> plans, Optional.empty())) {
            TorchPrediction prediction = memory.begin(List.of(), false);
            prediction.pause();
            prediction.finish();
        }
    }

    /**
     * Begins a prediction on this thread with inputs of these types. Whatever goes wrong here or
     * when it ends, such as a lack of memory for the arena, leaves the model's allocations to the
     * engine from then on, with one warning.
     *
     * @param inputs not asked for where predictions seldom have the same types
     * @param mayWait whether it may wait for an arena that another prediction gives back
     */
    public TorchPrediction begin(Supplier<ImmutableList<ArrayType>> inputs, boolean mayWait) {
        if (weights.isEmpty()) {
            return allocate(inputs, mayWait).counted();
        }
        StreamedWeights.Turn turn =
                weights.get().begin(inputs.get(), TorchSettings.current().threads(), arenaBytes());
        return inTurn(Optional.of(turn), () -> allocate(inputs, mayWait));
    }

    /** Begins a prediction on this thread with inputs of these types. */
    public TorchPrediction begin(List<ArrayType> inputs, boolean mayWait) {
        ImmutableList<ArrayType> known = ImmutableList.copyOf(inputs);
        return begin(() -> known, mayWait);
    }

    private static TorchPrediction inTurn(
            Optional<StreamedWeights.Turn> turn, Supplier<TorchPrediction> begins) {
        try {
            TorchPrediction prediction = begins.get().counted();
            turn.ifPresent(prediction::atPause);
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
        tally.predictions.increment();
        settling.begin();
        // The model may be closed meanwhile.
        NativeLoader.Use beginning = NativeLoader.hold();
        try {
            return begin(inputs, mayWait ? ArenaPool.LONGEST_WAIT : Duration.ZERO);
        } catch (RuntimeException | Error e) {
            stop(e);
            tally.unplannedPredictions.increment();
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
        if (recurrence.isPassedOver()) {
            tally.unplannedPredictions.increment();
            return online.begin(wait, tally, guard).orElseGet(TorchPrediction::unplanned);
        }
        Kind kind = Kind.of(inputs.get());
        AllocationSequence known = knownSequence(kind);
        if (known != null) {
            recurrence.found();
            return known.begin(wait);
        }
        if (recurrence.isWorthwhile(kind)) {
            return sequence(kind).begin(wait);
        }
        Optional<TorchPrediction> begun = shapes.begin(kind.inputs(), kind.threads(), wait);
        if (begun.isPresent()) {
            recurrence.found();
            return begun.get();
        }
        tally.unplannedPredictions.increment();
        begun = shapes.beginOnline(kind.inputs(), kind.threads(), wait);
        return begun.isPresent() ? begun.get() : TorchPrediction.unplanned();
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
        int threads = TorchSettings.current().threads();
        OptionalLong known = shapes.bytes(inputs, threads);
        if (known.isPresent()) {
            return known;
        }
        settleOwn();
        return shapes.bytes(inputs, threads);
    }

    /**
     * Begins a pass on this thread whose allocations are not those of predictions. What it frees is
     * the system's again at once, as nobody will need it like that.
     */
    public TorchPrediction beginOneOff() {
        return inTurn(weights.map(StreamedWeights::beginOneOff), this::allocateOneOff);
    }

    private TorchPrediction allocateOneOff() {
        if (closed || stopped.isPresent() || VirtualThreads.isCurrent()) {
            return TorchPrediction.unplanned();
        }
        // The model may be closed meanwhile.
        NativeLoader.Use passing = NativeLoader.hold();
        try {
            pool.freeIdle();
            return online.begin(
                            Duration.ZERO,
                            false,
                            (run, failed) -> run.finish(),
                            ending ->
                                    guard.guarded(
                                            (run, failed) -> {
                                                ending.end(run, failed);
                                                pool.trimIdle();
                                            }))
                    .orElseGet(TorchPrediction::unplanned);
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
        if (!isRehearsal) {
            logger.warn("{} runs in the engine's own memory from now on: {}", model, stopped.get());
        }
        logger.debug("This is what happened", problem);
        dropSequences();
        shapes.close();
        online.close();
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
        List<AllocationSequence> all;
        synchronized (sequences) {
            all = List.copyOf(sequences.values());
        }
        for (AllocationSequence each : all) {
            each.planAnyway();
        }
        Analysis.await(LONGEST_ANALYSIS);
    }

    /** Counts a prediction that nothing was planned for. */
    public void countUnplanned() {
        tally.predictions.increment();
        tally.unplannedPredictions.increment();
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
            return sequence(Kind.of(inputs)).liveness();
        } catch (RuntimeException | Error e) {
            stop(e);
            return Optional.empty();
        }
    }

    /** Keeps when the arrays of an imperative block are closed. */
    public void keepLiveness(List<ArrayType> inputs, LivenessTrace trace) {
        if (closed || stopped.isPresent()) {
            return;
        }
        try {
            sequence(Kind.of(inputs)).keepLiveness(trace);
        } catch (RuntimeException | Error e) {
            stop(e);
        }
    }

    private AllocationSequence sequence(Kind kind) {
        synchronized (making) {
            AllocationSequence sequence = knownSequence(kind);
            if (sequence == null) {
                sequence = newSequence(kind);
                keep(kind, sequence);
            }
            if (closed || stopped.isPresent()) {
                dropSequences();
            }
            return sequence;
        }
    }

    /** Returns null if there is none. */
    private AllocationSequence knownSequence(Kind kind) {
        synchronized (sequences) {
            return sequences.get(kind);
        }
    }

    private void keep(Kind kind, AllocationSequence sequence) {
        Optional<AllocationSequence> dropped = Optional.empty();
        synchronized (sequences) {
            sequences.put(kind, sequence);
            if (sequences.size() > MOST_SEQUENCES) {
                Iterator<AllocationSequence> eldest = sequences.values().iterator();
                dropped = Optional.of(eldest.next());
                eldest.remove();
            }
        }
        dropped.ifPresent(AllocationSequence::close);
    }

    private void dropSequences() {
        List<AllocationSequence> all;
        synchronized (sequences) {
            all = List.copyOf(sequences.values());
            sequences.clear();
        }
        for (AllocationSequence each : all) {
            each.close();
        }
    }

    private AllocationPlans known() {
        AllocationPlans known = plans.get();
        asked = Optional.of(known);
        return known;
    }

    /**
     * Of the first kinds of inputs, those that recur soon are planned, the very first at once: most
     * models have no other. Later kinds have recurred often.
     */
    private AllocationSequence.Background background() {
        int others = made.getAndIncrement();
        return others < Recurrence.FIRST ? new PlanningIfRecurring(others == 0) : Analysis::offer;
    }

    private AllocationSequence newSequence(Kind kind) {
        return new AllocationSequence(
                model + ", inputs " + kind.inputs(),
                mostArenas,
                known().of(kind.inputs(), kind.threads()),
                watch,
                pool,
                online,
                background(),
                tally,
                this::stop);
    }

    /** Returns the plan in use with the largest arena. */
    public Optional<EvaluatedPlan> largest() {
        List<AllocationSequence> all;
        synchronized (sequences) {
            all = List.copyOf(sequences.values());
        }
        Optional<EvaluatedPlan> largest = Optional.empty();
        for (AllocationSequence sequence : all) {
            Optional<EvaluatedPlan> plan = sequence.figures();
            if (plan.isPresent()
                    && (largest.isEmpty()
                            || plan.get().arenaBytes() > largest.get().arenaBytes())) {
                largest = plan;
            }
        }
        return largest;
    }

    /** Returns the size of the arena of a model with a budget, which it does not share. */
    private long arenaBytes() {
        return Math.max(
                largest().map(EvaluatedPlan::arenaBytes).orElse(0L), pool.metric().arenaBytes());
    }

    /**
     * Gives a model that has a budget another one.
     *
     * @throws BudgetTooSmallException if it is known that it cannot be held
     */
    public void setBudget(BudgetResolver budget, boolean bestEffort)
            throws BudgetTooSmallException {
        weights.orElseThrow().setBudget(budget, bestEffort, arenaBytes());
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
                        tally.predictions.sum(),
                        tally.unplannedPredictions.sum(),
                        tally.online.sum(),
                        tally.unplannedAllocations.sum(),
                        tally.recordings.sum(),
                        tally.escaped.sum(),
                        tally.byFormula.sum()),
                Optional.empty(),
                weights.map(streamed -> streamed.report(arenaBytes())));
    }

    @Override
    public void close() {
        if (!isRehearsal) {
            settleOwn();
        }
        closed = true;
        settling.close();
        dropSequences();
        shapes.close();
        asked.ifPresent(AllocationPlans::flush);
        weights.ifPresent(StreamedWeights::close);
        online.close();
        watch.close();
        passes.close();
        use.close();
    }
}
