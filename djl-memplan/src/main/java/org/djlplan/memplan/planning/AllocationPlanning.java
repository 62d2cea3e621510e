package org.djlplan.memplan.planning;

import com.google.common.collect.ImmutableMap;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.plan.portfolio.Strategies;
import org.djlplan.memplan.runtime.torch.AllocationPlans;
import org.djlplan.memplan.source.block.LivenessTrace;
import org.djlplan.memplan.source.trace.AllocationTrace;
import org.djlplan.memplan.store.BackgroundStore;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.PlanCodec;
import org.djlplan.memplan.store.Store;
import org.djlplan.memplan.store.StoreKey;
import org.djlplan.memplan.store.StoredPlan;

/**
 * Plans the allocations of one PyTorch model's predictions. A plan is kept with the allocations
 * that it is for, as nothing but a recording tells them: if there is room; where there is none,
 * once inputs of its types come back.
 */
public final class AllocationPlanning implements AllocationPlans {

    private final Store<StoredPlan> store;
    private final StoreKey model;

    /**
     * @param store where plans are kept
     * @param model the key that all plans of the model have in common: without inputs and threads
     */
    public AllocationPlanning(Store<StoredPlan> store, StoreKey model) {
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
    public static AllocationPlanning of(StoreKey model, Path folder, Path cacheFolder) {
        return new AllocationPlanning(
                new BackgroundStore<>(FolderStore.at(new PlanCodec(), folder, cacheFolder)), model);
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

        /**
         * Held while something is written: predictions go on meanwhile, as files may be far away.
         */
        private final Object writing = new Object();

        private Optional<LivenessTrace> liveness;

        /** The plan that the store shall hold: the one in use. */
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
        public synchronized Optional<Placement> kept() {
            return allocations.map(
                    stored -> new Placement(stored.trace(), EvaluatedPlan.of(stored.plan())));
        }

        @Override
        public Placement plan(AllocationTrace trace) {
            return new Placement(trace, MemoryPlanner.plan(trace.problem(), Strategies.BEST));
        }

        @Override
        public synchronized void use(Placement placement) {
            allocations =
                    Optional.of(
                            new StoredPlan.Allocations(placement.trace(), placement.plan().plan()));
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
    }
}
