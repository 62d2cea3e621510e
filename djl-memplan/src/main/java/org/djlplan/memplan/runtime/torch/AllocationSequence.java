package org.djlplan.memplan.runtime.torch;

import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.portfolio.PlannedMemory;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.runtime.BackgroundSearch;
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
    private final ArenaPool pool;
    private final Store<StoredPlan> store;
    private final StoreKey key;
    private final Tally tally;

    private Optional<LivenessTrace> liveness;
    private Optional<InstalledPlan> installed = Optional.empty();
    private Optional<BackgroundSearch> search = Optional.empty();

    /** The plan in the store, which may be a smaller one than that in use. */
    private Optional<AllocationPlan> kept = Optional.empty();

    private boolean recording;
    private boolean cameBack;
    private boolean closed;
    private int divergences;
    private int patience = FIRST_PATIENCE;

    AllocationSequence(
            TorchOptions options,
            ArenaPool pool,
            Store<StoredPlan> store,
            StoreKey key,
            Tally tally) {
        this.options = options;
        planner = new AllocationPlanner(options.strategy(), options.search());
        this.pool = pool;
        this.store = store;
        this.key = key;
        this.tally = tally;
        Optional<StoredPlan> stored = store.load(key);
        liveness = stored.flatMap(StoredPlan::liveness);
        cameBack = stored.isPresent();
        stored.flatMap(StoredPlan::allocations).ifPresent(this::installStored);
    }

    private void installStored(AllocationPlan plan) {
        try {
            PlannedMemory figures = planner.restored(plan);
            AllocationPlan restored = new AllocationPlan(plan.trace(), figures.plan());
            install(restored, figures);
            if (planner.isSearched(figures.plan()) && !planner.isSearched(plan.plan())) {
                save(Optional.of(restored));
            }
        } catch (IllegalArgumentException e) {
            logger.warn("a stored plan of {} is made anew: {}", key.model(), e.getMessage());
        }
    }

    /** Returns when an imperative block's arrays are closed, if it is known. */
    synchronized Optional<LivenessTrace> liveness() {
        return liveness;
    }

    /** Keeps when an imperative block's arrays are closed; allocations are recorded anew. */
    synchronized void keepLiveness(LivenessTrace trace) {
        liveness = Optional.of(trace);
        uninstall();
        save(Optional.empty());
    }

    /** Begins a prediction on this thread. */
    synchronized TorchPrediction begin() {
        tally.predictions.increment();
        Optional<TorchPrediction> prediction = Optional.empty();
        if (!closed) {
            noteUse();
            prediction = installed.isPresent() ? replay(installed.get()) : record();
        }
        if (installed.isEmpty() || prediction.isEmpty()) {
            tally.unplannedPredictions.increment();
        }
        return prediction.orElseGet(TorchPrediction::unplanned);
    }

    /** A plan that is used again is worth the place of another one. */
    private void noteUse() {
        if (!cameBack && installed.isPresent()) {
            cameBack = true;
            save(kept);
        }
    }

    private void save(Optional<AllocationPlan> plan) {
        kept = plan;
        StoredPlan value = new StoredPlan(liveness, plan);
        if (cameBack) {
            store.save(key, value);
        } else {
            store.offer(key, value);
        }
    }

    private Optional<TorchPrediction> record() {
        if (recording) {
            return Optional.empty();
        }
        Optional<TorchRun> run = TorchRun.record();
        recording = run.isPresent();
        return run.map(begun -> new TorchPrediction(begun, this::endRecording));
    }

    private Optional<TorchPrediction> replay(InstalledPlan plan) {
        Optional<ArenaPool.Lease> lease = plan.tryLease(options.maxArenas());
        if (lease.isEmpty()) {
            return Optional.empty();
        }
        Optional<TorchRun> run = plan.replay(lease.get().arena());
        if (run.isEmpty()) {
            lease.get().close();
        }
        return run.map(
                begun ->
                        new TorchPrediction(
                                begun,
                                (ended, failed) -> endReplay(ended, failed, lease.get(), plan)));
    }

    private void endRecording(TorchRun run, boolean failed) {
        Optional<AllocationTrace> trace = failed ? Optional.empty() : run.recorded();
        run.finish();
        tally.recordings.increment();
        // Outside the lock: other predictions need not wait for a plan.
        Optional<PlannedMemory> planned = trace.map(planner::firstPlan);
        synchronized (this) {
            recording = false;
            if (planned.isPresent() && !closed) {
                keep(new AllocationPlan(trace.get(), planned.get().plan()), planned.get());
            }
        }
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
        synchronized (this) {
            if (closed || !installed.equals(Optional.of(plan))) {
                return;
            }
            if (!failed) {
                noteDivergence(outcome.asRecorded());
            }
            if (!outcome.alive().isEmpty() && installed.isPresent()) {
                exclude(plan.plan(), outcome.alive());
            }
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

    /** Leaves allocations to the engine that turned out to outlive the prediction. */
    private void exclude(AllocationPlan plan, Set<Integer> alive) {
        AllocationTrace trace = plan.trace().withEscaped(alive);
        PlannedMemory planned = planner.plan(trace);
        keep(new AllocationPlan(trace, planned.plan()), planned);
    }

    private void keep(AllocationPlan plan, PlannedMemory figures) {
        uninstall();
        install(plan, figures);
        save(Optional.of(plan));
    }

    private void install(AllocationPlan plan, PlannedMemory figures) {
        installed = Optional.of(InstalledPlan.of(plan, figures, pool, options.hugePages()));
        tell(figures);
        if (planner.isOpen(figures)) {
            search = Optional.of(BackgroundSearch.start(() -> search(plan, figures)));
        }
    }

    /** Once for a model: with many shapes there would be many lines. */
    private void tell(PlannedMemory figures) {
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
    private void search(AllocationPlan plan, PlannedMemory figures) {
        OffsetPlan found = planner.search(figures).plan();
        // Whoever cancels waits here: files are closed when a thread that uses them is interrupted.
        synchronized (this) {
            boolean wanted = !Thread.currentThread().isInterrupted();
            if (wanted && installed.filter(now -> now.plan().equals(plan)).isPresent()) {
                save(Optional.of(new AllocationPlan(plan.trace(), found)));
            }
        }
    }

    private void uninstall() {
        search.ifPresent(BackgroundSearch::cancel);
        search = Optional.empty();
        installed.ifPresent(InstalledPlan::close);
        installed = Optional.empty();
    }

    /** Returns the figures of the plan in use. */
    synchronized Optional<PlannedMemory> figures() {
        return installed.map(InstalledPlan::figures);
    }

    @Override
    public synchronized void close() {
        closed = true;
        uninstall();
    }
}
