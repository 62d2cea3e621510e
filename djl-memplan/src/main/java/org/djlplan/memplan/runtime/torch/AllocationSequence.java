package org.djlplan.memplan.runtime.torch;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.runtime.NativeLoader;
import org.djlplan.memplan.source.block.LivenessTrace;
import org.djlplan.memplan.source.trace.AllocationTrace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The allocations that predictions with inputs of certain types make, always the same ones in the
 * same order: recorded once, planned by {@link AllocationPlans}, and placed from then on. Those of
 * a smaller batch are placed by the plan of a larger one, as long as they fit it: a family of batch
 * sizes has one plan.
 *
 * <p>When several predictions in a row allocate otherwise, they are recorded again; each time it
 * takes twice as many, so that a model whose allocations depend on its data costs next to nothing.
 */
final class AllocationSequence implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(AllocationSequence.class);
    private static final int FIRST_PATIENCE = 3;
    private static final double MEGA = 1e6;

    private final String name;
    private final int mostArenas;
    private final AllocationPlans.OfInputs plans;
    private final AllocationWatch watch;
    private final ArenaPool pool;
    private final Tally tally;
    private final Supplier<Optional<AllocationSequence>> larger;
    private final Consumer<Throwable> trouble;

    /** Whether these predictions turned out to fit no larger plan. */
    private volatile boolean isOdd;

    private Optional<Installed> installed = Optional.empty();
    private boolean recording;
    private boolean unplannable;
    private boolean closed;
    private int divergences;
    private int patience = FIRST_PATIENCE;

    /** Counts what happened to the predictions of a model. */
    static final class Tally {

        final LongAdder predictions = new LongAdder();
        final LongAdder unplannedPredictions = new LongAdder();
        final LongAdder unplannedAllocations = new LongAdder();
        final LongAdder recordings = new LongAdder();

        /** Whether a plan was told of: those of other input types are told to who debugs. */
        private final AtomicBoolean told = new AtomicBoolean();
    }

    /** A plan that predictions use, and the right to lease arenas for it. Equal to itself only. */
    private static final class Installed {

        private final AllocationPlans.Placement placement;
        private final AllocationWatch.Placing placing;
        private final ArenaPool.Need need;

        Installed(
                AllocationPlans.Placement placement,
                AllocationWatch.Placing placing,
                ArenaPool.Need need) {
            this.placement = placement;
            this.placing = placing;
            this.need = need;
        }

        void close() {
            need.close();
            placing.close();
        }
    }

    /**
     * @param name of the model and the inputs, for people
     * @param mostArenas how many arenas of the pool may be in use at once
     * @param plans plans these predictions; closed with this
     * @param larger finds one with a plan whose predictions are those of a larger batch
     * @param trouble told what goes wrong when a prediction ends, which is no concern of its caller
     */
    AllocationSequence(
            String name,
            int mostArenas,
            AllocationPlans.OfInputs plans,
            AllocationWatch watch,
            ArenaPool pool,
            Tally tally,
            Supplier<Optional<AllocationSequence>> larger,
            Consumer<Throwable> trouble) {
        this.name = name;
        this.mostArenas = mostArenas;
        this.plans = plans;
        this.watch = watch;
        this.pool = pool;
        this.tally = tally;
        this.larger = larger;
        this.trouble = trouble;
        try {
            plans.kept().ifPresent(this::install);
        } catch (RuntimeException | VirtualMachineError e) {
            logger.warn("a stored plan of {} is made anew: {}", name, e.toString());
        }
    }

    /** Returns when an imperative block's arrays are closed, if it is known. */
    Optional<LivenessTrace> liveness() {
        return plans.liveness();
    }

    /** Keeps when an imperative block's arrays are closed; allocations are recorded anew. */
    void keepLiveness(LivenessTrace trace) {
        if (plans.learn(trace)) {
            synchronized (this) {
                unplannable = false;
                uninstall();
            }
            plans.save();
        }
    }

    /**
     * Begins a prediction on this thread.
     *
     * @param wait how long to wait for an arena
     * @throws org.djlplan.memplan.runtime.NoArenaException if there is no memory for the plan
     */
    TorchPrediction begin(Duration wait) {
        Optional<Installed> plan = installed();
        Optional<AllocationSequence> lender =
                plan.isPresent() || isOdd ? Optional.empty() : larger.get();
        Optional<TorchPrediction> placed =
                lender.isPresent()
                        ? lender.get().lend(wait, this)
                        : plan.flatMap(own -> replay(own, wait, false, this::endReplay));
        if (placed.isPresent()) {
            return placed.get();
        }
        tally.unplannedPredictions.increment();
        Optional<TorchPrediction> recorded =
                plan.isPresent() || lender.isPresent() ? Optional.empty() : record();
        return recorded.orElseGet(TorchPrediction::unplanned);
    }

    /** Places a prediction of a smaller batch. */
    private Optional<TorchPrediction> lend(Duration wait, AllocationSequence borrower) {
        return installed().flatMap(own -> replay(own, wait, true, borrower::endBorrowed));
    }

    private synchronized Optional<Installed> installed() {
        return installed;
    }

    private synchronized Optional<TorchPrediction> record() {
        if (closed || unplannable || recording || installed.isPresent()) {
            return Optional.empty();
        }
        pool.freeIdle();
        Optional<AllocationWatch.Run> run = watch.record();
        recording = run.isPresent();
        return run.map(begun -> new TorchPrediction(begun, guarded(this::endRecording)));
    }

    /** What is done when a prediction that was placed has ended. */
    @FunctionalInterface
    private interface AfterReplay {

        void ended(AllocationWatch.Outcome outcome, boolean failed, Installed plan);
    }

    /** Waits without the lock, which whoever gives an arena back may need. */
    private Optional<TorchPrediction> replay(
            Installed plan, Duration wait, boolean atMost, AfterReplay after) {
        Optional<ArenaPool.Lease> lease = plan.need.tryLease(mostArenas, wait);
        if (lease.isEmpty()) {
            return Optional.empty();
        }
        Optional<AllocationWatch.Run> run;
        synchronized (this) {
            run =
                    installed.equals(Optional.of(plan))
                            ? plan.placing.replay(lease.get().arena(), atMost)
                            : Optional.empty();
        }
        if (run.isEmpty()) {
            lease.get().close();
        }
        return run.map(
                begun ->
                        new TorchPrediction(
                                begun,
                                guarded(
                                        (ended, failed) ->
                                                after.ended(
                                                        finish(ended, lease.get()),
                                                        failed,
                                                        plan))));
    }

    private TorchPrediction.Ending guarded(TorchPrediction.Ending ending) {
        // A prediction may end after its model.
        NativeLoader.Use use = NativeLoader.hold();
        return (run, failed) -> {
            try (use) {
                ending.end(run, failed);
            } catch (RuntimeException | Error e) {
                trouble.accept(e);
            }
        };
    }

    /** Throws only what is wrong with the whole model, such as a class that is missing. */
    private void endRecording(AllocationWatch.Run run, boolean failed) {
        boolean changed = false;
        try {
            Optional<AllocationTrace> trace = failed ? Optional.empty() : recorded(run);
            run.finish();
            tally.recordings.increment();
            // Outside the lock: other predictions need not wait for a plan.
            Optional<AllocationPlans.Placement> planned = trace.map(plans::plan);
            synchronized (this) {
                if (planned.isPresent() && !closed) {
                    uninstall();
                    install(planned.get());
                    changed = true;
                }
            }
        } catch (RuntimeException | VirtualMachineError e) {
            giveUp(e);
        } finally {
            synchronized (this) {
                recording = false;
            }
        }
        if (changed) {
            plans.save();
        }
    }

    /** Returns what was recorded; the run is finished if that fails. */
    private static Optional<AllocationTrace> recorded(AllocationWatch.Run run) {
        try {
            return run.recorded();
        } catch (RuntimeException | Error e) {
            run.finish();
            throw e;
        }
    }

    /** Leaves these predictions to the engine from now on. */
    private synchronized void giveUp(Throwable cause) {
        unplannable = true;
        uninstall();
        logger.warn("{}: allocations are not planned: {}", name, cause.toString());
    }

    private AllocationWatch.Outcome finish(AllocationWatch.Run run, ArenaPool.Lease lease) {
        AllocationWatch.Outcome outcome = run.finish();
        if (outcome.alive().isEmpty()) {
            lease.close();
        } else {
            lease.abandon();
        }
        tally.unplannedAllocations.add(outcome.unplanned());
        if (!outcome.asRecorded()) {
            tally.unplannedPredictions.increment();
        }
        return outcome;
    }

    /** It is for the next one to be recorded, where this one was not as the larger batch's. */
    private void endBorrowed(AllocationWatch.Outcome outcome, boolean failed, Installed lent) {
        if (!failed && !outcome.asPlanned()) {
            logger.debug("{} do not fit the plan of a larger batch: {}", name, outcome);
            isOdd = true;
        }
    }

    private void endReplay(AllocationWatch.Outcome outcome, boolean failed, Installed plan) {
        boolean changed = false;
        synchronized (this) {
            if (closed || !installed.equals(Optional.of(plan))) {
                return;
            }
            if (!failed) {
                noteDivergence(outcome.asRecorded());
            }
            if (!outcome.alive().isEmpty() && installed.isPresent()) {
                changed = exclude(plan.placement.trace(), outcome.alive());
            }
            // A plan that is used again is worth the place of another one.
            changed |= plans.cameBack();
        }
        if (changed) {
            plans.save();
        }
    }

    private void noteDivergence(boolean asRecorded) {
        divergences = asRecorded ? 0 : divergences + 1;
        if (divergences >= patience) {
            divergences = 0;
            patience = Math.min(2 * patience, Integer.MAX_VALUE / 2);
            uninstall();
        }
    }

    /**
     * Leaves allocations to the engine that turned out to outlive the prediction.
     *
     * @return whether there is a new plan to be kept
     */
    private boolean exclude(AllocationTrace trace, Set<Integer> alive) {
        try {
            AllocationPlans.Placement planned = plans.plan(trace.withEscaped(alive));
            uninstall();
            install(planned);
            return true;
        } catch (RuntimeException | VirtualMachineError e) {
            giveUp(e);
            return false;
        }
    }

    private void install(AllocationPlans.Placement planned) {
        // A model may allocate nothing that can be planned; even then its runs are checked.
        long arenaBytes = Math.max(1, planned.plan().arenaBytes());
        installed =
                Optional.of(new Installed(planned, watch.take(planned), pool.announce(arenaBytes)));
        plans.use(planned);
        tell(planned.plan());
    }

    /** Once for a model: with many shapes there would be many lines. */
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
        if (tally.told.getAndSet(true)) {
            logger.debug(text, values);
        } else {
            logger.info(text, values);
        }
    }

    private void uninstall() {
        installed.ifPresent(Installed::close);
        installed = Optional.empty();
    }

    /** Returns the figures of the plan in use. */
    synchronized Optional<EvaluatedPlan> figures() {
        return installed.map(now -> now.placement.plan());
    }

    @Override
    public synchronized void close() {
        closed = true;
        uninstall();
    }
}
