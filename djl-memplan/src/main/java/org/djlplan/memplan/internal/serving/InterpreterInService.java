package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.WeightStream;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.internal.thread.Pause;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;

/**
 * The one interpreter that serves a streamed model, for one budget and one list of input shapes at
 * a time. Its fields are guarded by {@link #turns}: callers hold a turn, except while the model is
 * opened.
 */
final class InterpreterInService {

    /**
     * How long the budget must be stable. After a load Java's compilers need this long for new
     * code; after a change of the budget, another change may follow.
     */
    static final Duration SETTLED = Duration.ofSeconds(2);

    /** After this long without a prediction the arena is released. */
    private static final Duration IDLE = Duration.ofSeconds(5);

    private final BudgetedInterpreters interpreters;
    private final Turns turns = new Turns();
    private final Pause idle = new Pause(IDLE, this::releaseIfIdle);
    private BudgetedInterpreter serving;
    private List<List<Integer>> shapesInFile = List.of();
    private List<List<Integer>> shapes = List.of();
    private long budgetBytes;
    private boolean closed;

    /**
     * @param interpreters closed with this
     */
    InterpreterInService(BudgetedInterpreters interpreters) {
        this.interpreters = interpreters;
    }

    /**
     * Plans the model, in CPU kernels, for the shapes in its file.
     *
     * @throws BudgetTooSmallException if it exceeds the budget, and must not
     * @throws IOException if the model cannot be read, or the copy cannot be written
     * @throws UnplannableException if the engine cannot run it this way
     */
    void open(long wantedBytes) throws IOException, UnplannableException, BudgetTooSmallException {
        serving = interpreters.planned(wantedBytes, List.of());
        budgetBytes = wantedBytes;
        shapesInFile = serving.interpreter().inputs().stream().map(TensorInfo::shape).toList();
        shapes = shapesInFile;
    }

    Turns turns() {
        return turns;
    }

    /** Returns the interpreter. */
    BudgetedInterpreter now() {
        return serving;
    }

    /** Returns the interpreter's input shapes. */
    List<List<Integer>> shapes() {
        return shapes;
    }

    List<List<Integer>> shapesInFile() {
        return shapesInFile;
    }

    long budgetBytes() {
        return budgetBytes;
    }

    /** Returns how weights are read. */
    WeightStream.Io io() throws IOException {
        return interpreters.io();
    }

    /**
     * Returns the part of the budget for the arena and a delegate, or more if the model exceeds the
     * budget.
     */
    long arenaBytes() {
        return Math.max(interpreters.arenaBytes(budgetBytes), serving.leastArenaBytes());
    }

    /**
     * Plans the interpreter for another budget.
     *
     * @throws BudgetTooSmallException if that needs another copy of the model, or no copy suffices
     */
    void plan(long wantedBytes) throws BudgetTooSmallException, UnplannableException {
        serving.plan(interpreters.arenaBytes(wantedBytes));
        budgetBytes = wantedBytes;
    }

    /**
     * Replaces the interpreter by one for a budget, in CPU kernels.
     *
     * @param wantedShapes of the inputs
     */
    void serve(long wantedBytes, List<List<Integer>> wantedShapes)
            throws IOException, UnplannableException, BudgetTooSmallException {
        // Making a copy, if necessary, takes an arena of the same size.
        serving.release();
        replace(
                interpreters.planned(
                        wantedBytes, wantedShapes.equals(shapesInFile) ? List.of() : wantedShapes),
                wantedBytes);
        shapes = wantedShapes;
        budgetBytes = wantedBytes;
    }

    /** Returns an interpreter for the same budget in CPU kernels. Needs no turn. */
    BudgetedInterpreter plannedInCpuKernels()
            throws IOException, UnplannableException, BudgetTooSmallException {
        return interpreters.planned(budgetBytes, List.of());
    }

    /** Replaces the interpreter by one for the same budget; on errors the new one is closed. */
    void replace(BudgetedInterpreter next) throws UnplannableException, BudgetTooSmallException {
        replace(next, budgetBytes);
    }

    private void replace(BudgetedInterpreter next, long wantedBytes)
            throws UnplannableException, BudgetTooSmallException {
        try {
            serving.release();
            makeRoom(next, serving.delegatedBytes());
            next.calibrate(Math.max(interpreters.arenaBytes(wantedBytes), next.leastArenaBytes()));
        } catch (BudgetTooSmallException | UnplannableException | RuntimeException | Error e) {
            next.close();
            throw e;
        }
        install(next);
    }

    /**
     * Shrinks the next interpreter's arena, because the current one's delegate is still in memory
     * while the next one is measured.
     */
    private static void makeRoom(BudgetedInterpreter next, long takenBytes)
            throws BudgetTooSmallException, UnplannableException {
        if (takenBytes > 0) {
            long leftBytes = next.plan().arenaBytes() - takenBytes;
            next.plan(Math.max(next.leastArenaBytes(), leftBytes));
        }
    }

    /** Replaces the interpreter by one that is planned and measured. */
    void install(BudgetedInterpreter next) {
        serving.close();
        serving = next;
        trimLater();
    }

    /**
     * Trims the heap later, because Java's compilers have freed memory that the C library keeps.
     */
    static void trimLater() {
        Later.run(SETTLED, ProcessMemory::trim);
    }

    /** Releases the arena after a while without another call. */
    void releaseWhenIdle() {
        idle.await();
    }

    /** Tries again later if something else has a turn, because other work waits for the thread. */
    @VisibleForTesting
    void releaseIfIdle() {
        if (!turns.tryLock()) {
            idle.await();
            return;
        }
        try {
            if (!closed) {
                serving.release();
            }
        } finally {
            turns.unlock();
        }
    }

    boolean isClosed() {
        return closed;
    }

    /** Takes a turn, ends the work in the background, and closes the interpreter. */
    void close() {
        turns.lock();
        try {
            if (!closed) {
                closed = true;
                turns.endWork();
                if (serving != null) {
                    serving.close();
                }
                interpreters.close();
            }
        } finally {
            turns.unlock();
        }
    }
}
