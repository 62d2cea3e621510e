package org.djlplan.memplan.internal.runtime.ort;

import com.sun.jna.Pointer;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.InputSizes;
import org.djlplan.memplan.internal.runtime.Keeping;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.NeededMemory;
import org.djlplan.memplan.internal.runtime.NoArenaException;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.internal.runtime.PredictionTally;
import org.djlplan.memplan.internal.runtime.RunCounters;
import org.djlplan.memplan.internal.runtime.RunEvents;
import org.djlplan.memplan.internal.runtime.Settling;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.internal.usage.AllocationTrace;
import org.djlplan.memplan.report.PlanReport;

/**
 * The memory of one ONNX Runtime model's predictions. Each allocation of a prediction gets the
 * lowest free place in its arena. Allocations that are known to outlive their prediction, such as
 * outputs, come from the engine's allocator. Without an arena a prediction uses only the engine's
 * allocator.
 *
 * <p>With a budget, predictions run one at a time, in the model's own arena. A prediction fails if
 * it needs more than the budget leaves beside the weights.
 */
public final class OrtMemory implements AutoCloseable {

    private static final String ENGINE = "OnnxRuntime";

    /** Fewer bytes of outputs in an arena are not worth the page faults of a new one. */
    private static final long MANY_BYTES = 1 << 20;

    private final ArenaPool.Need need;
    private final NativeLoader.Use use;
    private final Pointer escapes;

    /** The arena of large outputs; empty for the engine's own memory. */
    private final Optional<OutputArena.Use> outputs;

    private final long weightsBytes;
    private final Settling settling = Settling.afterLoad();

    private final Optional<OrtBudget> budget;
    private final PredictionTally tally = new PredictionTally();
    private boolean closed;
    private int open;
    private boolean recordsNext;
    private Optional<AllocationTrace> recorded = Optional.empty();

    /**
     * A prediction that allocates in an arena.
     *
     * @param recorded whether its allocations are recorded
     * @param counters for what becomes of them, as there may be no memory left when it ends
     * @param limitBytes of the arena that it may use
     */
    private record Run(
            ArenaPool.Lease lease,
            Pointer run,
            boolean recorded,
            long[] counters,
            long limitBytes) {}

    /**
     * The allocator must be attached.
     *
     * @param weightsBytes what the session allocated for weights
     * @param budget empty for no budget
     * @throws UnsupportedPlatformException if the native library is not available
     */
    public OrtMemory(long weightsBytes, Optional<OrtBudget> budget)
            throws UnsupportedPlatformException {
        this.weightsBytes = weightsBytes;
        this.budget = budget;
        ArenaPool pool = budget.isPresent() ? new ArenaPool() : ArenaPool.shared();
        use = OrtNative.use();
        outputs =
                budget.isPresent()
                        ? Optional.empty()
                        : Optional.of(OutputArena.shared().use(Keeping.SHORT));
        escapes =
                OrtNative.djlplan_escapes_create(
                        outputs.map(OutputArena.Use::address).orElse(null));
        need = pool.announceAny(Keeping.SHORT);
    }

    /** Returns what the session allocated for weights, including packed ones. */
    public long weightsBytes() {
        return weightsBytes;
    }

    /**
     * Runs a forward pass, whose allocations get places in an arena. With a budget, the caller runs
     * one at a time.
     *
     * @param sizes of the inputs
     * @param pass runs on this thread
     * @return the result of {@code pass}
     * @throws IllegalStateException caused by a {@link BudgetTooSmallException} if it needs more
     *     than the budget
     */
    public <T> T run(InputSizes sizes, Supplier<T> pass) {
        Optional<Run> run = begin();
        if (run.isEmpty()) {
            tally.outsideArenas();
        }
        long refused = 0;
        try {
            return pass.get();
        } catch (RuntimeException e) {
            refused = run.isPresent() ? OrtNative.djlplan_ort_refused() : 0;
            throw refused == 0 ? e : tooSmall(run.get().limitBytes(), refused, sizes.elements(), e);
        } finally {
            if (run.isPresent()) {
                end(run.get(), sizes);
            }
        }
    }

    private IllegalStateException tooSmall(
            long limitBytes, long reachedBytes, long elements, RuntimeException failed) {
        BudgetTooSmallException why =
                budget.orElseThrow().exceeded(limitBytes, reachedBytes, elements);
        why.addSuppressed(failed);
        return new IllegalStateException(why.getMessage(), why);
    }

    /** Returns whether there is a budget. */
    public boolean hasBudget() {
        return budget.isPresent();
    }

    /** Returns the bytes of the weights and of the largest prediction so far. */
    public long modelBytes() {
        return budget.orElseThrow().modelBytes();
    }

    /**
     * Returns whether the allocations of a pass on this thread are made on this thread, where they
     * can be limited. The pass is not counted.
     */
    public boolean canLimit(Runnable pass) {
        Optional<Run> run = begin();
        if (run.isEmpty()) {
            return true;
        }
        try {
            pass.run();
        } finally {
            OrtNative.djlplan_ort_pause();
            OrtNative.djlplan_run_finish(run.get().run(), run.get().counters());
            giveBack(run.get());
        }
        return run.get().counters()[RunCounters.BYTES] > 0;
    }

    /**
     * Replaces the budget of a model that has one. Predictions that run keep theirs.
     *
     * @throws BudgetTooSmallException if the weights have no room in it; the budget is then
     *     unchanged
     */
    public void setBudget(LongSupplier other) throws BudgetTooSmallException {
        budget.orElseThrow().set(other);
    }

    /**
     * Checks that the weights, and the largest prediction so far, have room in the budget.
     *
     * @throws BudgetTooSmallException if they have not
     */
    public void checkBudget() throws BudgetTooSmallException {
        budget.orElseThrow().check();
    }

    /** Returns the memory that predictions needed. */
    public NeededMemory needed() {
        return tally.needed();
    }

    private long limitBytes() {
        return budget.isPresent() ? budget.get().arenaBytes() : Long.MAX_VALUE;
    }

    /** Returns empty if the engine's allocator is to be used. */
    private Optional<Run> begin() {
        long[] counters = new long[RunCounters.COUNT];
        if (!enter()) {
            return Optional.empty();
        }
        Optional<ArenaPool.Lease> lease = Optional.empty();
        Pointer run = null;
        Optional<Run> begun = Optional.empty();
        try {
            lease = need.tryLease();
            if (lease.isPresent()) {
                boolean recording = takeRecordsNext();
                long limit = limitBytes();
                Arena arena = lease.get().arena();
                run =
                        OrtNative.djlplan_ort_begin(
                                arena.address(), escapes, recording ? 1 : 0, limit);
                if (run != null) {
                    begun = Optional.of(new Run(lease.get(), run, recording, counters, limit));
                }
            }
        } catch (NoArenaException e) {
            // Nothing has begun.
            return Optional.empty();
        } finally {
            if (begun.isEmpty()) {
                if (run != null) {
                    OrtNative.djlplan_ort_pause();
                    OrtNative.djlplan_run_finish(run, counters);
                }
                lease.ifPresent(each -> each.close(0));
                leave();
            }
        }
        return begun;
    }

    /** Ends a run on its thread, also if there is no memory for what it recorded. */
    private void end(Run run, InputSizes sizes) {
        OrtNative.djlplan_ort_pause();
        try {
            if (run.recorded()) {
                note(
                        RunEvents.trace(
                                (out, capacity) ->
                                        OrtNative.djlplan_run_events(run.run(), out, capacity)));
            }
        } finally {
            OrtNative.djlplan_run_finish(run.run(), run.counters());
            try {
                tally.online(sizes, run.counters());
                if (budget.isPresent()) {
                    budget.get().note(sizes.elements(), run.counters()[RunCounters.REACHED]);
                }
                if (outputs.isPresent()) {
                    outputs.get().note(run.counters()[RunCounters.KEPT_REACHED]);
                }
            } finally {
                giveBack(run);
            }
        }
    }

    /**
     * Ends the use of an arena. If outputs stay in it, it is not used again, because later
     * predictions would have to go around them, and would keep their memory after they are freed.
     */
    private void giveBack(Run run) {
        long kept = run.counters()[RunCounters.ALIVE_BYTES];
        try {
            if (kept >= MANY_BYTES || (budget.isPresent() && kept > 0)) {
                run.lease().abandon();
            } else {
                run.lease().close(run.counters()[RunCounters.REACHED]);
            }
        } finally {
            leave();
            settling.afterPrediction();
        }
    }

    /**
     * A virtual thread may continue on another native thread in the middle of a pass, so the thread
     * does not identify the pass of an allocation.
     */
    private synchronized boolean enter() {
        if (closed || VirtualThreads.isCurrent()) {
            return false;
        }
        open++;
        return true;
    }

    private synchronized void leave() {
        open--;
        if (closed && open == 0) {
            free();
        }
    }

    /** Returns to the system the memory of idle arenas of the model's pool. */
    public void trim() {
        need.trimPool();
    }

    /** Records the allocations of the next prediction. */
    public synchronized void recordNext() {
        recordsNext = true;
    }

    private synchronized boolean takeRecordsNext() {
        boolean taken = recordsNext;
        recordsNext = false;
        return taken;
    }

    private synchronized void note(Optional<AllocationTrace> trace) {
        recorded = trace;
    }

    /**
     * Returns the allocations of the prediction that was recorded last. Allocations that were not
     * freed when it ended, such as outputs, have no end.
     */
    public synchronized Optional<AllocationTrace> recorded() {
        return recorded;
    }

    /** Returns the report of the predictions so far. */
    public PlanReport report() {
        return new PlanReport(
                ENGINE,
                Optional.empty(),
                tally.plan(),
                List.of(),
                tally.predictions(),
                Optional.empty(),
                budget.map(OrtBudget::report),
                Optional.empty(),
                tally.needed().peak());
    }

    private void free() {
        if (escapes != null) {
            OrtNative.djlplan_escapes_delete(escapes);
        }
        outputs.ifPresent(OutputArena.Use::close);
        use.close();
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (open == 0) {
                free();
            }
        }
        settling.close();
        need.close();
    }
}
