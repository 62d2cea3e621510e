package org.djlplan.memplan.runtime.torch;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.runtime.BackgroundSearch;
import org.djlplan.memplan.runtime.NativeLoader;
import org.djlplan.memplan.source.block.LivenessTrace;
import org.djlplan.memplan.source.trace.AllocationTrace;
import org.djlplan.memplan.store.AllocationPlan;
import org.djlplan.memplan.store.Store;
import org.djlplan.memplan.store.StoreKey;
import org.djlplan.memplan.store.StoredPlan;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The allocations that predictions with inputs of certain types make, always the same ones in the
 * same order: recorded once, planned, kept in the store, and placed from then on.
 *
 * <p>A plan is kept if there is room; where there is none, once inputs of its types come back.
 *
 * <p>When several predictions in a row allocate otherwise, they are recorded again; each time it
 * takes twice as many, so that a model whose allocations depend on its data costs next to nothing.
 */
final class AllocationSequence implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(AllocationSequence.class);
    private static final int FIRST_PATIENCE = 3;
    private static final double MEGA = 1e6;

    private final TorchOptions options;
    private final AllocationPlanner planner;
    private final AllocationWatch watch;
    private final ArenaPool pool;
    private final Store<StoredPlan> store;
    private final StoreKey key;
    private final Tally tally;
    private final Consumer<Throwable> trouble;

    /** Held while something is written: predictions go on meanwhile, as files may be far away. */
    private final Object writing = new Object();

    private Optional<LivenessTrace> liveness;

    /** What the store shall hold: the plan in use, or what a search made of it. */
    private Optional<AllocationPlan> kept = Optional.empty();

    private Optional<InstalledPlan> installed = Optional.empty();
    private Optional<BackgroundSearch> search = Optional.empty();
    private boolean recording;

    /** Whether inputs of these types were seen again, so that the plan is worth its place. */
    private boolean cameBack;

    private boolean unplannable;
    private boolean closed;
    private int divergences;
    private int patience = FIRST_PATIENCE;

    /**
     * @param trouble told what goes wrong when a prediction ends, which is no concern of its caller
     */
    AllocationSequence(
            TorchOptions options,
            AllocationWatch watch,
            ArenaPool pool,
            Store<StoredPlan> store,
            StoreKey key,
            Tally tally,
            Consumer<Throwable> trouble) {
        this.options = options;
        planner = new AllocationPlanner(options.strategy(), options.search());
        this.watch = watch;
        this.pool = pool;
        this.store = store;
        this.key = key;
        this.tally = tally;
        this.trouble = trouble;
        Optional<StoredPlan> stored = store.load(key);
        liveness = stored.flatMap(StoredPlan::liveness);
        cameBack = stored.isPresent();
        stored.flatMap(StoredPlan::allocations).ifPresent(this::installStored);
    }

    private void installStored(AllocationPlan plan) {
        try {
            EvaluatedPlan figures = planner.restored(plan);
            AllocationPlan restored = new AllocationPlan(plan.trace(), figures.plan());
            install(restored, figures);
            if (planner.isSearched(figures.plan()) && !planner.isSearched(plan.plan())) {
                save();
            }
        } catch (RuntimeException | LinkageError | VirtualMachineError e) {
            logger.warn("a stored plan of {} is made anew: {}", key.model(), e.toString());
        }
    }

    /** Writes what is known now. The caller does not hold this sequence's lock. */
    private void save() {
        synchronized (writing) {
            StoredPlan now;
            boolean offered;
            synchronized (this) {
                now = new StoredPlan(liveness, kept);
                offered = !cameBack;
            }
            if (offered) {
                store.offer(key, now);
            } else {
                store.save(key, now);
            }
        }
    }

    /** Returns when an imperative block's arrays are closed, if it is known. */
    synchronized Optional<LivenessTrace> liveness() {
        return liveness;
    }

    /** Keeps when an imperative block's arrays are closed; allocations are recorded anew. */
    void keepLiveness(LivenessTrace trace) {
        synchronized (this) {
            if (liveness.equals(Optional.of(trace))) {
                return;
            }
            liveness = Optional.of(trace);
            kept = Optional.empty();
            unplannable = false;
            uninstall();
        }
        save();
    }

    /**
     * Begins a prediction on this thread.
     *
     * @param wait how long to wait for an arena
     * @throws org.djlplan.memplan.runtime.NoArenaException if there is no memory for the plan
     */
    TorchPrediction begin(Duration wait) {
        Optional<InstalledPlan> plan = installed();
        Optional<TorchPrediction> prediction =
                plan.isPresent() ? replay(plan.get(), wait) : record();
        if (plan.isEmpty() || prediction.isEmpty()) {
            tally.unplannedPredictions.increment();
        }
        return prediction.orElseGet(TorchPrediction::unplanned);
    }

    private synchronized Optional<InstalledPlan> installed() {
        return installed;
    }

    private synchronized Optional<TorchPrediction> record() {
        if (closed || unplannable || recording || installed.isPresent()) {
            return Optional.empty();
        }
        pool.freeIdle();
        Optional<TorchRun> run = watch.record();
        recording = run.isPresent();
        return run.map(begun -> new TorchPrediction(begun, guarded(this::endRecording)));
    }

    /** Waits without the lock, which whoever gives an arena back may need. */
    private Optional<TorchPrediction> replay(InstalledPlan plan, Duration wait) {
        Optional<ArenaPool.Lease> lease = plan.tryLease(options.maxArenas(), wait);
        if (lease.isEmpty()) {
            return Optional.empty();
        }
        Optional<TorchRun> run;
        synchronized (this) {
            run =
                    installed.equals(Optional.of(plan))
                            ? plan.replay(lease.get().arena())
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
                                                endReplay(ended, failed, lease.get(), plan))));
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
    private void endRecording(TorchRun run, boolean failed) {
        boolean changed = false;
        try {
            Optional<AllocationTrace> trace = failed ? Optional.empty() : recorded(run);
            run.finish();
            tally.recordings.increment();
            // Outside the lock: other predictions need not wait for a plan.
            Optional<EvaluatedPlan> planned = trace.map(planner::firstPlan);
            synchronized (this) {
                if (planned.isPresent() && !closed) {
                    use(new AllocationPlan(trace.get(), planned.get().plan()), planned.get());
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
            save();
        }
    }

    /** Returns what was recorded; the run is finished if that fails. */
    private static Optional<AllocationTrace> recorded(TorchRun run) {
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
        logger.warn(
                "{}, inputs {}: allocations are not planned: {}",
                key.model(),
                key.facts().get("inputs"),
                cause.toString());
    }

    private void endReplay(
            TorchRun run, boolean failed, ArenaPool.Lease lease, InstalledPlan plan) {
        RunOutcome outcome = run.finish();
        if (outcome.alive().isEmpty()) {
            lease.close();
        } else {
            lease.abandon();
        }
        tally.unplannedAllocations.add(outcome.unplanned());
        if (!outcome.asRecorded()) {
            tally.unplannedPredictions.increment();
        }
        boolean changed = false;
        synchronized (this) {
            if (closed || !installed.equals(Optional.of(plan))) {
                return;
            }
            if (!failed) {
                noteDivergence(outcome.asRecorded());
            }
            if (!outcome.alive().isEmpty() && installed.isPresent()) {
                changed = exclude(plan.plan(), outcome.alive());
            }
            // A plan that is used again is worth the place of another one.
            changed |= !cameBack;
            cameBack = true;
        }
        if (changed) {
            save();
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
    private boolean exclude(AllocationPlan plan, Set<Integer> alive) {
        try {
            AllocationTrace trace = plan.trace().withEscaped(alive);
            EvaluatedPlan planned = planner.plan(trace);
            use(new AllocationPlan(trace, planned.plan()), planned);
            return true;
        } catch (RuntimeException | VirtualMachineError e) {
            giveUp(e);
            return false;
        }
    }

    private void use(AllocationPlan plan, EvaluatedPlan figures) {
        uninstall();
        install(plan, figures);
    }

    private void install(AllocationPlan plan, EvaluatedPlan figures) {
        installed = Optional.of(InstalledPlan.of(plan, figures, watch, pool, options.hugePages()));
        kept = Optional.of(plan);
        tell(figures);
        if (planner.isOpen(figures)) {
            search = Optional.of(BackgroundSearch.start(mine -> search(mine, plan, figures)));
        }
    }

    /** Once for a model: with many shapes there would be many lines. */
    private void tell(EvaluatedPlan figures) {
        String text =
                "{}, inputs {}: {} allocations in an arena of {} MB ({}; {} MB without sharing,"
                        + " lower bound {} MB)";
        Object[] values = {
            key.model(),
            key.facts().get("inputs"),
            figures.plan().problem().records().size(),
            figures.plan().totalBytes() / MEGA,
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

    /** Keeps what a search finds, which is used from the next load on. */
    private void search(BackgroundSearch mine, AllocationPlan plan, EvaluatedPlan figures) {
        Optional<OffsetPlan> found = mine.interruptibly(() -> planner.search(figures).plan());
        synchronized (this) {
            boolean wanted = installed.filter(now -> now.plan().equals(plan)).isPresent();
            if (found.isEmpty() || !wanted) {
                return;
            }
            kept = Optional.of(new AllocationPlan(plan.trace(), found.get()));
        }
        save();
    }

    private void uninstall() {
        search.ifPresent(BackgroundSearch::cancel);
        search = Optional.empty();
        installed.ifPresent(InstalledPlan::close);
        installed = Optional.empty();
    }

    /** Returns the figures of the plan in use. */
    synchronized Optional<EvaluatedPlan> figures() {
        return installed.map(InstalledPlan::figures);
    }

    @Override
    public synchronized void close() {
        closed = true;
        uninstall();
    }
}
