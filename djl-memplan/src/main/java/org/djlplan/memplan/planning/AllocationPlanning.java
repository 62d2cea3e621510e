package org.djlplan.memplan.planning;

import com.google.common.collect.ImmutableMap;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.config.PlanningOptions;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.plan.portfolio.PlanImprover;
import org.djlplan.memplan.runtime.torch.AllocationPlans;
import org.djlplan.memplan.source.block.LivenessTrace;
import org.djlplan.memplan.source.trace.AllocationTrace;
import org.djlplan.memplan.store.BackgroundStore;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.PlanCodec;
import org.djlplan.memplan.store.SearchedPlan;
import org.djlplan.memplan.store.Store;
import org.djlplan.memplan.store.StoreKey;
import org.djlplan.memplan.store.StoreLock;
import org.djlplan.memplan.store.StoredPlan;

/**
 * Plans the allocations of one PyTorch model's predictions. A plan is kept with the allocations
 * that it is for, as nothing but a recording tells them: if there is room; where there is none,
 * once inputs of its types come back.
 */
public final class AllocationPlanning implements AllocationPlans {

    private final PlanningOptions options;
    private final Store<StoredPlan> store;
    private final StoreKey model;

    /**
     * @param store where plans are kept
     * @param model the key that all plans of the model have in common: without inputs and threads
     */
    public AllocationPlanning(PlanningOptions options, Store<StoredPlan> store, StoreKey model) {
        this.options = options;
        this.store = store;
        this.model = model;
    }

    /**
     * Returns what plans a model and keeps its plans in a folder.
     *
     * @param model the key that all plans of the model have in common: without inputs and threads
     * @param folder the model's
     * @param cacheFolder where plans are kept when that is not possible beside the model
     */
    public static AllocationPlanning of(
            PlanningOptions options, StoreKey model, Path folder, Path cacheFolder) {
        return new AllocationPlanning(
                options,
                new BackgroundStore<>(FolderStore.at(new PlanCodec(), folder, cacheFolder)),
                model);
    }

    @Override
    public OfInputs of(List<ArrayType> inputs, int threads) {
        return new Predictions(
                new StoreKey(
                        model.model(),
                        ImmutableMap.<String, String>builder()
                                .putAll(model.facts())
                                .put("inputs", inputs.toString())
                                .put("threads", Integer.toString(threads))
                                .buildOrThrow()));
    }

    @Override
    public void flush() {
        store.flush();
    }

    private final class Predictions implements OfInputs {

        private final StoreKey key;
        private final PlanningService service =
                new PlanningService(model.model(), options.search(), PlanImprover::within);

        /**
         * Held while something is written: predictions go on meanwhile, as files may be far away.
         */
        private final Object writing = new Object();

        private Optional<LivenessTrace> liveness;

        /** What the store shall hold: the plan in use, or what a search made of it. */
        private Optional<StoredPlan.Allocations> allocations;

        /** Whether inputs of these types were seen again, so that the plan is worth its place. */
        private boolean cameBack;

        Predictions(StoreKey key) {
            this.key = key;
            Optional<StoredPlan> stored = store.load(key);
            liveness = stored.flatMap(StoredPlan::liveness);
            allocations = stored.flatMap(StoredPlan::allocations);
            cameBack = stored.isPresent();
        }

        @Override
        public synchronized Optional<LivenessTrace> liveness() {
            return liveness;
        }

        @Override
        public synchronized boolean learn(LivenessTrace learnt) {
            if (liveness.equals(Optional.of(learnt))) {
                return false;
            }
            liveness = Optional.of(learnt);
            allocations = Optional.empty();
            return true;
        }

        @Override
        public Optional<Placement> kept() {
            Optional<AllocationTrace> trace;
            synchronized (this) {
                trace = allocations.map(StoredPlan.Allocations::trace);
            }
            return trace.map(recorded -> plan(recorded, true));
        }

        @Override
        public Placement plan(AllocationTrace trace, boolean mayWait) {
            Recorded recorded = new Recorded(trace);
            EvaluatedPlan known = recorded.planned();
            return new Placement(
                    trace, mayWait && service.waits() ? service.searchNow(recorded, known) : known);
        }

        @Override
        public void use(Placement placement) {
            drop();
            synchronized (this) {
                allocations =
                        Optional.of(
                                new StoredPlan.Allocations(
                                        placement.trace(), SearchedPlan.of(placement.plan())));
            }
            service.searchLater(new Recorded(placement.trace()), placement.plan());
        }

        @Override
        public void drop() {
            service.cancel();
        }

        @Override
        public synchronized boolean cameBack() {
            boolean isNew = !cameBack;
            cameBack = true;
            return isNew;
        }

        @Override
        public void save() {
            synchronized (writing) {
                StoredPlan now;
                boolean offered;
                synchronized (this) {
                    now = new StoredPlan(liveness, allocations);
                    offered = !cameBack;
                }
                if (offered) {
                    store.offer(key, now);
                } else {
                    store.save(key, now);
                }
            }
        }

        /** Returns the plan that is to be kept if it is one of these allocations. */
        private synchronized Optional<SearchedPlan> planOf(AllocationTrace trace) {
            return planOf(trace, allocations);
        }

        private static Optional<SearchedPlan> planOf(
                AllocationTrace trace, Optional<StoredPlan.Allocations> in) {
            return in.filter(known -> known.trace().equals(trace))
                    .map(StoredPlan.Allocations::plan);
        }

        @Override
        public void close() {
            service.close();
        }

        /** Allocations that were recorded. */
        private final class Recorded implements PlanningService.Request {

            private final AllocationTrace trace;

            Recorded(AllocationTrace trace) {
                this.trace = trace;
            }

            /**
             * Returns the plan that is to be kept if it can be used, else that of the strategies.
             */
            EvaluatedPlan planned() {
                return planOf(trace)
                        .filter(plan -> service.searches() || plan.searchedMillis() == 0)
                        .map(SearchedPlan::evaluated)
                        .orElseGet(() -> MemoryPlanner.plan(trace.problem(), options.strategy()));
            }

            /** Another JVM may have searched the same allocations meanwhile. */
            @Override
            public EvaluatedPlan known() {
                EvaluatedPlan own = planned();
                Optional<EvaluatedPlan> others =
                        planOf(trace, store.load(key).flatMap(StoredPlan::allocations))
                                .filter(plan -> plan.searchedMillis() > own.searchedMillis())
                                .map(SearchedPlan::evaluated);
                others.ifPresent(this::hold);
                return others.orElse(own);
            }

            /** Returns whether these allocations are still those that are planned. */
            private boolean hold(EvaluatedPlan found) {
                synchronized (Predictions.this) {
                    if (planOf(trace).isEmpty()) {
                        return false;
                    }
                    allocations =
                            Optional.of(new StoredPlan.Allocations(trace, SearchedPlan.of(found)));
                    return true;
                }
            }

            @Override
            public EvaluatedPlan search(EvaluatedPlan best, PlanImprover improver) {
                return MemoryPlanner.searched(best, improver);
            }

            @Override
            public void keep(EvaluatedPlan found) {
                if (hold(found)) {
                    save();
                }
            }

            @Override
            public void flush() {
                store.flush();
            }

            @Override
            public Optional<StoreLock> tryLock() {
                return store.tryLock(key);
            }
        }
    }
}
