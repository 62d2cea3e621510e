package org.djlplan.memplan.internal.runtime.torch;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.ResidencyPlan;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.config.BudgetOptions;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.report.BudgetReportRecord;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.SystemError;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.internal.store.Store;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.WeightIo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The weights of one model with a byte budget. The first prediction with inputs of certain types
 * and shapes shows when it uses each piece of the weights. For later ones the pieces are loaded
 * just before their use, and few others are in memory. One prediction of the model runs at a time;
 * others wait.
 *
 * <p>The allocations of a prediction show which weights it needs next. A prediction that allocates
 * differently reads weights on access; after a few such predictions, the next one is recorded
 * again.
 */
public final class StreamedWeights implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(StreamedWeights.class);

    private static final double MEGA = 1e6;

    private final String model;
    private final WeightFile file;
    private final WeightIo io;
    private final int slicedOperators;
    private final WeightBudget budget;
    private final StreamedKinds kinds;
    private final ReentrantLock turn = new ReentrantLock(true);
    private volatile OptionalLong lastWaitedNanos = OptionalLong.empty();
    private volatile Optional<StreamedKind> last = Optional.empty();
    private boolean told; // guarded by turn
    private volatile boolean closed;

    /**
     * @param model its name, for people
     * @param budget the memory that the model may take above the idle runtime
     * @param options how weights are read, and whether a prediction that exceeds the budget fails
     * @param file the loaded weights; closed with this
     * @param slicedOperators how many of its layers run in slices
     * @param names the weights' names, with the bytes of each; called only when a budget is too
     *     small
     * @throws IOException if the weights cannot be written to disk
     * @throws IllegalStateException caused by a {@link BudgetTooSmallException}, if every
     *     prediction would exceed the budget, and none may
     */
    public StreamedWeights(
            String model,
            BudgetResolver budget,
            BudgetOptions options,
            WeightFile file,
            int slicedOperators,
            Supplier<Map<String, Long>> names)
            throws IOException {
        this.model = model;
        this.file = file;
        this.slicedOperators = slicedOperators;
        io = options.io() == WeightIo.AUTO ? best(file.bytes()) : options.io();
        kinds = new StreamedKinds(file.pieces());
        this.budget =
                new WeightBudget(
                        model,
                        budget,
                        options.bestEffort(),
                        new OtherMemory(file.before()),
                        new WeightNames(names, file::blocks));
        this.budget.checkAtLoad(file.largestPieceBytes());
        ProcessMemory.trim();
        if (direct()) {
            file.uncache();
        }
    }

    /** Sets where recordings of the use of weights are stored. */
    public void keep(Store<WeightTrace> store, StoreKey key) {
        kinds.keep(store, key);
    }

    /**
     * Chooses how weights are read: cached reads are fastest, if the page cache has room for all
     * weights and a reserve.
     */
    private static WeightIo best(long bytes) {
        return new Machine().memoryRoom().freeBytes() > 2 * bytes ? WeightIo.MMAP : WeightIo.DIRECT;
    }

    private boolean direct() {
        return io == WeightIo.DIRECT;
    }

    /** A prediction that has its turn. */
    interface Turn {

        /**
         * Ends it, on its thread.
         *
         * @throws IllegalStateException as {@link #begin}
         */
        void end();
    }

    /**
     * Waits for this model's turn and begins a prediction on this thread. Empty if this thread has
     * the turn already.
     *
     * @param arenaBytes the bytes that it needs for activations, so far as known
     * @throws IllegalStateException caused by a {@link BudgetTooSmallException}, if the prediction
     *     is known to exceed the budget, and must not
     */
    Optional<Turn> begin(PredictionKind prediction, long arenaBytes) {
        return take(() -> begun(prediction, arenaBytes));
    }

    /**
     * Waits for this model's turn and begins a pass on this thread that will not recur; weights
     * leave memory at each allocation. Empty if this thread has the turn already.
     */
    Optional<Turn> beginOneOff() {
        return take(
                () ->
                        begun(
                                Optional.empty(),
                                false,
                                () -> {
                                    WeightFile.Figures unused = file.end();
                                }));
    }

    /**
     * Waits for this model's turn, and ends it if the beginning fails.
     *
     * @param begins not called if the model is closed
     */
    private Optional<Turn> take(Supplier<Optional<Turn>> begins) {
        if (turn.isHeldByCurrentThread()) {
            return Optional.empty();
        }
        turn.lock();
        try {
            return closed ? Optional.of(turn::unlock) : begins.get();
        } catch (RuntimeException | Error e) {
            turn.unlock();
            throw e;
        }
    }

    private Optional<Turn> begun(PredictionKind prediction, long arenaBytes) {
        StreamedKind kind = kinds.of(prediction);
        budget.judge(kind, arenaBytes, heldBytes());
        kind.plan(budget.windowBytes(arenaBytes, heldBytes()));
        boolean recorded = kind.isRecordedNext();
        return begun(kind.schedule(), recorded, () -> end(kind, recorded, arenaBytes));
    }

    /** The turn exists before the pass begins, because there may be no memory for it afterwards. */
    private Optional<Turn> begun(
            Optional<WeightFile.Schedule> schedule, boolean recorded, Runnable end) {
        Optional<Turn> streamed =
                Optional.of(
                        () -> {
                            try {
                                end.run();
                            } finally {
                                turn.unlock();
                            }
                        });
        return !VirtualThreads.isCurrent() && file.begin(schedule, recorded, direct())
                ? streamed
                : Optional.of(turn::unlock);
    }

    private void end(StreamedKind kind, boolean recorded, long arenaBytes) {
        WeightFile.Figures figures = file.end();
        if (closed) {
            return;
        }
        tell(figures);
        budget.predicted();
        last = Optional.of(kind);
        kind.predicted();
        if (recorded) {
            learn(kind);
        } else {
            lastWaitedNanos = OptionalLong.of(figures.waitedNanos());
            kind.compare(figures.asPlanned());
        }
        budget.judge(kind, arenaBytes, heldBytes());
    }

    /** Returns the size of the window in use. */
    private long heldBytes() {
        return last.map(StreamedKind::windowBytes).orElse(0L);
    }

    private void tell(WeightFile.Figures figures) {
        if (figures.errno() != 0) {
            logger.debug(
                    "{}: weights were read on access: {}",
                    model,
                    SystemError.text(figures.errno()));
        }
    }

    private void learn(StreamedKind kind) {
        Optional<WeightTrace> trace = file.watched();
        kind.setWatchable(trace.isPresent());
        if (trace.isPresent()) {
            kind.learn(trace.get());
            kinds.save(kind, trace.get());
            tell(trace.get(), kind);
        } else if (!told) {
            told = true;
            logger.warn(
                    "{}: weights are read on access, because the system does not report "
                            + "which of their pages are in memory",
                    model);
        }
    }

    private void tell(WeightTrace trace, StreamedKind kind) {
        if (told) {
            return;
        }
        told = true;
        logger.info(
                "{}: {} MB of weights in {} pieces, of which {} MB are used at once",
                model,
                file.bytes() / MEGA,
                trace.pieces().size(),
                kind.leastWindowBytes() / MEGA);
    }

    /** Returns the report on the budget. */
    public BudgetReport report(long arenaBytes) {
        Optional<ResidencyPlan> plan = last.flatMap(StreamedKind::plan);
        long windowBytes = plan.map(ResidencyPlan::windowBytes).orElse(0L);
        return new BudgetReportRecord(
                budget.bytes(arenaBytes + windowBytes),
                budget.leastBytes(leastWindowBytes(), arenaBytes),
                arenaBytes + windowBytes,
                file.bytes(),
                plan.map(ResidencyPlan::pinnedBytes).orElse(0L),
                file.pieces().size(),
                slicedOperators,
                BudgetReportRecord.Delegated.NOTHING,
                new BudgetReportRecord.Loading(
                        plan.map(ResidencyPlan::loadedBytes).orElse(0L),
                        0,
                        lastWaitedNanos,
                        direct() ? WeightIo.DIRECT : WeightIo.MMAP));
    }

    private long leastWindowBytes() {
        return last.map(StreamedKind::leastWindowBytes).orElse(0L);
    }

    /**
     * Returns which weights are in memory when, in predictions like the last one; empty before
     * there is a plan. Waits for the prediction that has its turn.
     */
    public Optional<ResidentWeights> resident() {
        turn.lock();
        try {
            return last.flatMap(StreamedKind::resident);
        } finally {
            turn.unlock();
        }
    }

    /**
     * Replaces the model's budget, from the next prediction on.
     *
     * @throws BudgetTooSmallException if predictions would exceed it whatever else this process
     *     does, and must not
     */
    void setBudget(BudgetResolver resolver, long arenaBytes) throws BudgetTooSmallException {
        checkState(!closed, "%s is closed", model);
        if (budget.replace(resolver, leastWindowBytes(), arenaBytes, heldBytes())) {
            // Drops the pieces in memory, because the model may be idle for long.
            beginOneOff().ifPresent(Turn::end);
        }
    }

    /** Returns the size of all weights that are in the file, in bytes. */
    public long bytes() {
        return file.bytes();
    }

    /**
     * Waits for the prediction that has its turn. Predictions that still wait for theirs run
     * without loaded pieces.
     */
    @Override
    public void close() {
        turn.lock();
        try {
            if (!closed) {
                closed = true;
                file.close();
                kinds.close();
            }
        } finally {
            turn.unlock();
        }
    }
}
