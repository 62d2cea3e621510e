package org.djlplan.memplan.internal.runtime.torch;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.io.IOException;
import java.nio.file.Path;
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
import org.djlplan.memplan.internal.report.Megabytes;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.SystemError;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.internal.store.FolderStore;
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

    /** An arena that grows becomes larger than necessary by one part in this many, in steps. */
    private static final int ARENA_GROWTH = 8;

    private static final long ARENA_STEP_BYTES = 1 << 20;

    private final String model;
    private final WeightFile file;
    private final WeightIo io;
    private final int slicedOperators;
    private final WeightBudget budget;
    private final StreamedKinds kinds;
    private final ReentrantLock turn = new ReentrantLock(true);
    private volatile OptionalLong lastWaitedNanos = OptionalLong.empty();
    private volatile Optional<StreamedKind> last = Optional.empty();

    /** The smallest budget for all predictions since it was larger, and for any prediction. */
    private volatile long leastBytes;

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
                        file.largestPieceBytes(),
                        new WeightNames(names, file::blocks));
        this.budget.check(Optional.empty(), 0, 0);
        leastBytes = this.budget.leastBytes(Optional.empty(), 0);
        ProcessMemory.trim();
        if (direct()) {
            file.uncache();
        }
    }

    /**
     * Sets where recordings of the use of weights are stored.
     *
     * @param modelFolder the folder with the model's files
     * @param cacheFolder for recordings that cannot be stored beside the model
     */
    public void keep(Path modelFolder, Path cacheFolder, StoreKey key) {
        kinds.keep(FolderStore.at(StreamedKinds.FORMAT, modelFolder, cacheFolder), key);
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

    /**
     * Waits for this model's turn and begins a prediction on this thread. Empty if this thread has
     * the turn already.
     *
     * @param arenas of the model's predictions
     * @throws IllegalStateException caused by a {@link BudgetTooSmallException}, if the budget has
     *     no room for the weights that the prediction uses at once, and must have
     */
    Optional<Turn> begin(PredictionKind prediction, TorchArenas arenas) {
        return take(() -> begun(kinds.of(prediction), arenas));
    }

    /**
     * Waits for this model's turn and begins a pass on this thread that will not recur; weights
     * leave memory at each allocation. Empty if this thread has the turn already.
     */
    Optional<Turn> beginOneOff(TorchArenas arenas) {
        return take(() -> begun(Optional.empty(), Optional.empty(), false, arenas));
    }

    /**
     * Waits for this model's turn, and ends it if the beginning fails.
     *
     * @param begins not called if the model is closed
     */
    private Optional<Turn> take(Supplier<Turn> begins) {
        if (turn.isHeldByCurrentThread()) {
            return Optional.empty();
        }
        turn.lock();
        try {
            return Optional.of(
                    closed ? new Turn(Optional.empty(), false, Long.MAX_VALUE) : begins.get());
        } catch (RuntimeException | Error e) {
            turn.unlock();
            throw e;
        }
    }

    private Turn begun(StreamedKind kind, TorchArenas arenas) {
        budget.check(Optional.of(kind), kind.leastNeededBytes(), heldBytes());
        kind.plan(budget.windowBytes(arenaBytes(kind.neededBytes()), heldBytes()));
        return begun(Optional.of(kind), kind.schedule(), kind.isRecordedNext(), arenas);
    }

    /** Returns the size to which the arena grows for a prediction that needs so many bytes. */
    private static long arenaBytes(long neededBytes) {
        return neededBytes + neededBytes / ARENA_GROWTH + ARENA_STEP_BYTES;
    }

    private Turn begun(
            Optional<StreamedKind> kind,
            Optional<WeightFile.Schedule> schedule,
            boolean recorded,
            TorchArenas arenas) {
        long limitBytes = budget.limitBytes(kind, heldBytes());
        long arenaBytes =
                schedule.isPresent() ? arenaBytes(kind.orElseThrow().neededBytes()) : limitBytes;
        if (arenas.bytes() > arenaBytes) {
            // An earlier prediction needed more, and now weights take that memory.
            arenas.trim();
        }
        // Made before the pass begins, because there may be no memory for it afterwards.
        Turn begun = new Turn(kind, recorded, limitBytes);
        begun.streams = !VirtualThreads.isCurrent() && file.begin(schedule, recorded, direct());
        return begun;
    }

    /** A prediction that has its turn. */
    final class Turn {

        private final Optional<StreamedKind> kind;
        private final boolean recorded;
        private final long limitBytes;
        private boolean streams;

        private Turn(Optional<StreamedKind> kind, boolean recorded, long limitBytes) {
            this.kind = kind;
            this.recorded = recorded;
            this.limitBytes = limitBytes;
        }

        /** Returns how many bytes the prediction may need beside weights. */
        long limitBytes() {
            return limitBytes;
        }

        /**
         * Returns the exception for a prediction that needs more, caused by a {@link
         * BudgetTooSmallException}.
         */
        IllegalStateException refusal(long neededBytes) {
            return budget.refusal(kind, neededBytes);
        }

        /**
         * Ends it, on its thread.
         *
         * @param neededBytes what it needed beside weights
         * @param failed whether it ended early
         * @throws IllegalStateException as {@link #begin}
         */
        void end(long neededBytes, boolean failed) {
            try {
                if (streams) {
                    WeightFile.Figures figures = file.end();
                    if (kind.isPresent() && !closed && !failed) {
                        predicted(kind.get(), recorded, figures, neededBytes);
                    } else if (kind.isPresent() && neededBytes > limitBytes) {
                        kind.get().refused(neededBytes);
                    }
                }
            } finally {
                turn.unlock();
            }
        }
    }

    /** Learns from a prediction that did not fail. */
    private void predicted(
            StreamedKind kind, boolean recorded, WeightFile.Figures figures, long neededBytes) {
        tell(figures);
        budget.predicted();
        last = Optional.of(kind);
        if (recorded) {
            learn(kind);
        } else {
            lastWaitedNanos = OptionalLong.of(figures.waitedNanos());
            kind.compare(figures.asPlanned());
        }
        budget.check(last, neededBytes, heldBytes());
        kind.predicted(neededBytes);
        leastBytes = Math.max(leastBytes, budget.leastBytes(last, kind.neededBytes()));
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
                "{}: {} of weights in {} pieces, of which {} are used at once",
                model,
                Megabytes.of(file.bytes()),
                trace.pieces().size(),
                Megabytes.of(kind.leastWindowBytes()));
    }

    /** Returns the report on the budget. */
    public BudgetReport report(long arenaBytes) {
        Optional<ResidencyPlan> plan = last.flatMap(StreamedKind::plan);
        long windowBytes = Math.min(file.bytes(), plan.map(ResidencyPlan::windowBytes).orElse(0L));
        return new BudgetReport(
                budget.bytes(arenaBytes + windowBytes),
                leastBytes,
                arenaBytes + windowBytes,
                file.bytes(),
                plan.map(ResidencyPlan::pinnedBytes).orElse(0L),
                file.pieces().size(),
                slicedOperators,
                0,
                0,
                plan.map(ResidencyPlan::loadedBytes).orElse(0L),
                0,
                lastWaitedNanos,
                direct() ? WeightIo.DIRECT : WeightIo.MMAP);
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
     * @throws BudgetTooSmallException if it has no room for any prediction, and must have
     */
    void setBudget(BudgetResolver resolver, TorchArenas arenas) throws BudgetTooSmallException {
        checkState(!closed, "%s is closed", model);
        boolean less = budget.replace(resolver, last, arenas.bytes() + heldBytes());
        if (budget.bytes(arenas.bytes() + heldBytes()) < leastBytes) {
            leastBytes = budget.leastBytes(last, 0);
        }
        if (less) {
            // Drops the pieces in memory, because the model may be idle for long.
            beginOneOff(arenas).ifPresent(begun -> begun.end(0, true));
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
