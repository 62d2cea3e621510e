package org.djlplan.memplan.internal.runtime.torch;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.djlplan.memplan.internal.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The allocations of predictions whose inputs have certain types and shapes. Such predictions
 * usually make the same allocations in the same order. These are recorded once, and planned in the
 * background by {@link AllocationPlans}; later predictions use the planned places. Until there is a
 * plan, {@link TorchArenas} places the allocations online.
 *
 * <p>If several predictions in a row diverge from the plan, the allocations are recorded again. The
 * required number of predictions doubles each time, so recording costs almost nothing if a model's
 * allocations depend on the data.
 */
final class AllocationSequence implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(AllocationSequence.class);
    private static final double MEGA = 1e6;

    private final String name;
    private final AllocationPlans.OfInputs plans;
    private final TorchArenas arenas;
    private final Background background;
    private final Tally tally;
    private final Divergences divergences = new Divergences();
    private final IncompleteRecordings incomplete = new IncompleteRecordings();

    private Optional<Installed> installed = Optional.empty();

    /** Whether a prediction is being recorded, or its recording is being planned. */
    private boolean recording;

    /** Increased when recordings no longer match predictions; older ones are then ignored. */
    private int generation;

    private boolean unplannable;
    private boolean closed;

    /** Counts the results of the predictions of a model. */
    static final class Tally {

        // Not LongAdder: with a prediction per millisecond there is no contention, and Java's
        // compilers would inline ten times as much code into each prediction.
        final AtomicLong predictions = new AtomicLong();
        final AtomicLong unplannedPredictions = new AtomicLong();
        final AtomicLong online = new AtomicLong();
        final AtomicLong unplannedAllocations = new AtomicLong();
        final AtomicLong recordings = new AtomicLong();
        final AtomicLong escaped = new AtomicLong();
        final AtomicLong byFormula = new AtomicLong();

        /** Finishes a run that had no plan. */
        AllocationWatch.Outcome finish(AllocationWatch.Run run) {
            AllocationWatch.Outcome outcome = run.finish();
            online.incrementAndGet();
            count(outcome, "without a plan");
            return outcome;
        }

        /** Finishes a run with a plan that was predicted from recordings of other shapes. */
        AllocationWatch.Outcome finishPlaced(AllocationWatch.Run run) {
            AllocationWatch.Outcome outcome = run.finish();
            byFormula.incrementAndGet();
            if (!outcome.asRecorded()) {
                unplannedPredictions.incrementAndGet();
            }
            count(outcome, "by formula");
            return outcome;
        }

        private void count(AllocationWatch.Outcome outcome, String how) {
            unplannedAllocations.addAndGet(outcome.unplanned());
            escaped.addAndGet(outcome.escaped());
            if (logger.isTraceEnabled()) {
                logger.trace(
                        "A prediction {} reached {} bytes of an arena for {} in use",
                        how,
                        outcome.reachedBytes(),
                        outcome.mostBytes());
            }
        }

        /** Whether the plan was logged. Plans of further input types are logged at debug level. */
        private final AtomicBoolean told = new AtomicBoolean();
    }

    /** A plan that predictions use, and the right to lease arenas for it. Compared by identity. */
    private static final class Installed {

        private final AllocationPlans.Placement placement;
        private final AllocationWatch.Placing placing;
        private final ArenaPool.Need need;

        /** Whether a plan without the allocations that outlive predictions is being made. */
        private boolean excluding;

        Installed(AllocationPlans.Placement placement, TorchArenas arenas) {
            this.placement = placement;
            placing = arenas.take(placement);
            // A model may allocate nothing that can be planned; even then its runs are checked.
            need = arenas.announce(Math.max(1, placement.plan().arenaBytes()));
        }

        void close() {
            need.close();
            placing.close();
        }
    }

    /** Work that is done while no caller waits for a prediction. */
    @FunctionalInterface
    interface Background {

        /** Returns whether the work was accepted. It may be deferred. */
        boolean offer(Runnable work);

        /**
         * Reports that a prediction of this kind begins without a plan.
         *
         * @param predictions number of the model's predictions so far, of any kind
         */
        default void unplanned(long predictions) {}

        /** Reports that such inputs recur, so that a plan for them is useful. */
        default void recurred() {}

        /** Drops work that has not begun. */
        default void close() {}
    }

    /**
     * @param name name of the model and the inputs, for messages
     * @param plans plans these predictions
     * @param background closed with this
     */
    AllocationSequence(
            String name,
            AllocationPlans.OfInputs plans,
            TorchArenas arenas,
            Background background,
            Tally tally) {
        this.name = name;
        this.plans = plans;
        this.arenas = arenas;
        this.background = background;
        this.tally = tally;
        try {
            Optional<Installed> unused = plans.kept().flatMap(this::install);
        } catch (RuntimeException | VirtualMachineError e) {
            logger.warn("a stored plan of {} is made again: {}", name, e.toString());
        }
    }

    /** Returns when an imperative block's arrays are closed, if it is known. */
    Optional<LivenessTrace> liveness() {
        return plans.liveness();
    }

    /** Sets when an imperative block's arrays are closed; allocations are recorded again. */
    void keepLiveness(LivenessTrace trace) {
        if (plans.learn(trace)) {
            Optional<Installed> before;
            synchronized (this) {
                unplannable = false;
                generation++;
                before = uninstall();
            }
            before.ifPresent(Installed::close);
            plans.save();
        }
    }

    /**
     * Begins a prediction on this thread.
     *
     * @param wait how long to wait for an arena
     * @throws org.djlplan.memplan.internal.runtime.NoArenaException if there is no memory for the
     *     plan
     */
    TorchPrediction begin(Duration wait) {
        Optional<Installed> plan = installed();
        if (plan.isPresent()) {
            Optional<TorchPrediction> placed = replay(plan.get(), wait);
            if (placed.isPresent()) {
                return placed.get();
            }
        }
        tally.unplannedPredictions.incrementAndGet();
        Optional<TorchPrediction> begun = plan.isPresent() ? Optional.empty() : beginOnline(wait);
        return begun.isPresent() ? begun.get() : TorchPrediction.unplanned();
    }

    private synchronized Optional<Installed> installed() {
        return installed;
    }

    private Optional<TorchPrediction> beginOnline(Duration wait) {
        background.unplanned(tally.predictions.get());
        boolean records = beginRecording();
        Optional<TorchPrediction> begun = Optional.empty();
        try {
            begun = records ? arenas.begin(wait, true, new Recording()) : arenas.begin(wait, tally);
        } finally {
            if (records && begun.isEmpty()) {
                stopRecording();
            }
        }
        return begun;
    }

    /** Offers planning that waits for such inputs to recur. */
    void planAnyway() {
        background.recurred();
    }

    /** Returns whether to record the next prediction; if so, recording has begun. */
    private synchronized boolean beginRecording() {
        if (closed
                || unplannable
                || recording
                || installed.isPresent()
                || !incomplete.mayRecord()) {
            return false;
        }
        recording = true;
        return true;
    }

    private synchronized void noteRecording(boolean complete) {
        incomplete.note(complete);
    }

    private synchronized int generation() {
        return generation;
    }

    private synchronized void stopRecording() {
        recording = false;
    }

    /** Waits without the lock, because a thread that returns an arena may need it. */
    private Optional<TorchPrediction> replay(Installed plan, Duration wait) {
        Optional<ArenaPool.Lease> lease = arenas.tryLease(plan.need, wait);
        if (lease.isEmpty()) {
            return Optional.empty();
        }
        return arenas.begin(
                lease.get(),
                arena -> replay(plan, arena),
                (ended, failed) -> endReplay(finish(ended, lease.get()), failed, plan));
    }

    private synchronized Optional<AllocationWatch.Run> replay(Installed plan, Arena arena) {
        return installed.equals(Optional.of(plan)) ? plan.placing.replay(arena) : Optional.empty();
    }

    /** A prediction without a plan that is recorded for planning. */
    private final class Recording implements TorchArenas.Ending {

        private Optional<AllocationTrace> trace = Optional.empty();

        /** The generation when it ended. What is learnt while it runs already applies to it. */
        private int noted;

        /** Propagates only errors of the whole model, such as a missing class. */
        @Override
        public AllocationWatch.Outcome end(AllocationWatch.Run run, boolean failed) {
            noted = generation();
            try {
                if (!failed) {
                    trace = run.recorded();
                    noteRecording(trace.isPresent());
                }
                tally.recordings.incrementAndGet();
            } catch (RuntimeException | VirtualMachineError e) {
                giveUp(e);
            } catch (Error e) {
                run.finish();
                throw e;
            }
            return tally.finish(run);
        }

        @Override
        public void closed() {
            if (trace.isEmpty() || !background.offer(() -> plan(trace.orElseThrow(), noted))) {
                stopRecording();
            }
        }
    }

    /** Plans a recording in the background. */
    private void plan(AllocationTrace trace, int noted) {
        boolean changed = false;
        try {
            // Outside the lock: predictions need not wait for a plan.
            AllocationPlans.Placement planned = plans.plan(trace);
            Optional<Installed> before = Optional.empty();
            synchronized (this) {
                if (!closed && noted == generation) {
                    before = install(planned);
                    changed = true;
                }
            }
            before.ifPresent(Installed::close);
            arenas.trimIdle();
        } catch (RuntimeException | VirtualMachineError e) {
            giveUp(e);
        } finally {
            stopRecording();
        }
        if (changed) {
            plans.save();
        }
    }

    /** Makes no plan for these predictions any more. */
    private void giveUp(Throwable cause) {
        Optional<Installed> before;
        synchronized (this) {
            unplannable = true;
            before = uninstall();
        }
        before.ifPresent(Installed::close);
        logger.warn("{}: allocations are not planned: {}", name, cause.toString());
    }

    private AllocationWatch.Outcome finish(AllocationWatch.Run run, ArenaPool.Lease lease) {
        AllocationWatch.Outcome outcome = TorchArenas.finish(run::finish, lease, true);
        tally.escaped.addAndGet(outcome.escaped());
        tally.unplannedAllocations.addAndGet(outcome.unplanned());
        if (!outcome.asRecorded()) {
            tally.unplannedPredictions.incrementAndGet();
        }
        return outcome;
    }

    private void endReplay(AllocationWatch.Outcome outcome, boolean failed, Installed plan) {
        boolean changed;
        boolean excludes;
        Optional<Installed> before = Optional.empty();
        synchronized (this) {
            if (closed || !installed.equals(Optional.of(plan))) {
                return;
            }
            if (!failed && divergences.areTooMany(outcome.asRecorded())) {
                before = uninstall();
            }
            excludes =
                    !outcome.alive().isEmpty()
                            && installed.equals(Optional.of(plan))
                            && !plan.excluding;
            plan.excluding |= excludes;
            // A plan that is used again is worth the place of another one.
            changed = plans.markRecurring();
        }
        before.ifPresent(Installed::close);
        if (changed) {
            plans.save();
        }
        if (excludes) {
            // Its plan is in use: such inputs have recurred.
            background.recurred();
        }
        if (excludes && !background.offer(() -> exclude(plan, outcome.alive()))) {
            synchronized (this) {
                plan.excluding = false;
            }
        }
    }

    /** Leaves allocations that outlive the prediction to the engine. */
    private void exclude(Installed plan, Set<Integer> alive) {
        boolean changed = false;
        try {
            AllocationPlans.Placement planned =
                    plans.plan(plan.placement.trace().withEscaped(alive));
            synchronized (this) {
                if (!closed && installed.equals(Optional.of(plan))) {
                    Optional<Installed> unused = install(planned);
                    changed = true;
                }
            }
            if (changed) {
                plan.close();
            }
        } catch (RuntimeException | VirtualMachineError e) {
            giveUp(e);
        }
        if (changed) {
            plans.save();
        }
    }

    /**
     * Installs a plan. The caller closes the result, the former plan, without the lock, because
     * that may return much memory. The need of the new plan is announced by then, so memory that it
     * needs is not returned.
     */
    private Optional<Installed> install(AllocationPlans.Placement planned) {
        Optional<Installed> before = installed;
        installed = Optional.of(new Installed(planned, arenas));
        plans.use(planned);
        tell(planned.plan());
        return before;
    }

    /**
     * Logs once for a model, and only plans that take memory, because with many shapes there would
     * be many lines.
     */
    private void tell(EvaluatedPlan figures) {
        String text =
                "{}: {} allocations in an arena of {} MB ({}; {} MB without sharing,"
                        + " lower bound {} MB)";
        Object[] values = {
            name,
            figures.plan().problem().records().size(),
            figures.arenaBytes() / MEGA,
            figures.strategy(),
            figures.naiveBytes() / MEGA,
            figures.lowerBoundBytes() / MEGA
        };
        if (figures.arenaBytes() == 0 || tally.told.getAndSet(true)) {
            logger.debug(text, values);
        } else {
            logger.info(text, values);
        }
    }

    /** Returns the former plan, which the caller closes without the lock. */
    private Optional<Installed> uninstall() {
        Optional<Installed> before = installed;
        installed = Optional.empty();
        return before;
    }

    /** Returns the figures of the plan in use. */
    synchronized Optional<EvaluatedPlan> figures() {
        return installed.map(now -> now.placement.plan());
    }

    @Override
    public void close() {
        Optional<Installed> before;
        synchronized (this) {
            closed = true;
            background.close();
            before = uninstall();
        }
        before.ifPresent(Installed::close);
    }
}
