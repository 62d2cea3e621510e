package org.djlplan.memplan.internal.planning;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.formula.LearntShapes;
import org.djlplan.memplan.internal.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.internal.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.internal.runtime.torch.AllocationPlans;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.memplan.internal.store.BackgroundStore;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.PlanCodec;
import org.djlplan.memplan.internal.store.ShapesCodec;
import org.djlplan.memplan.internal.store.Store;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.store.StoredPlan;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Plans the allocations of one PyTorch model's predictions. A plan is stored with its allocations,
 * which only a recording can supply. It is stored at once if the store has room, otherwise when
 * inputs of the same types and shapes recur.
 */
public final class AllocationPlanning implements AllocationPlans {

    private final Store<StoredPlan> store;
    private final Store<LearntShapes> shapeStore;
    private final StoreKey model;
    private final Map<StoreKey, Shapes> shapes = new ConcurrentHashMap<>();

    /**
     * @param store of plans
     * @param shapeStore of formulas for other shapes
     * @param model the part of the key that all plans of the model share: without inputs and
     *     threads
     */
    public AllocationPlanning(
            Store<StoredPlan> store, Store<LearntShapes> shapeStore, StoreKey model) {
        this.store = store;
        this.shapeStore = shapeStore;
        this.model = model;
    }

    /**
     * Returns the planning of a model, which stores its plans in a folder.
     *
     * @param model the part of the key that all plans of the model share: without inputs and
     *     threads
     * @param folder of the model
     * @param cacheFolder for plans that cannot be stored beside the model
     */
    public static AllocationPlanning of(StoreKey model, Path folder, Path cacheFolder) {
        return new AllocationPlanning(
                new BackgroundStore<>(FolderStore.at(new PlanCodec(), folder, cacheFolder)),
                new BackgroundStore<>(FolderStore.at(new ShapesCodec(), folder, cacheFolder)),
                model);
    }

    @Override
    public OfInputs of(List<ArrayType> inputs, int threads) {
        return new Predictions(
                key("inputs", inputs.toString(), threads),
                Shapes.shape(inputs),
                ofShapes(inputs, threads));
    }

    private StoreKey key(String fact, String value, int threads) {
        return new StoreKey(
                model.model(),
                ImmutableMap.<String, String>builder()
                        .putAll(model.facts())
                        .put(fact, value)
                        .put("threads", Integer.toString(threads))
                        .buildOrThrow());
    }

    @Override
    public Shapes ofShapes(List<ArrayType> inputs, int threads) {
        StringBuilder types = new StringBuilder();
        inputs.forEach(
                input ->
                        types.append(input.dataType())
                                .append(':')
                                .append(input.shape().size())
                                .append(' '));
        return shapes.computeIfAbsent(
                key("types", types.toString(), threads), key -> new Shapes(shapeStore, key));
    }

    @Override
    public void flush() {
        store.flush();
        shapeStore.flush();
    }

    private final class Predictions implements OfInputs {

        private final StoreKey key;
        private final ImmutableLongArray shape;
        private final Shapes ofShapes;

        /**
         * Held during a write; predictions do not wait for it, because files may be on a slow
         * network.
         */
        private final Object writing = new Object();

        private Optional<LivenessTrace> liveness;

        /** The plan to be stored: the one in use. */
        private Optional<StoredPlan.Allocations> allocations;

        /** Whether inputs of these types recurred, so that the plan is worth storing. */
        private boolean recurring;

        Predictions(StoreKey key, ImmutableLongArray shape, Shapes ofShapes) {
            this.key = key;
            this.shape = shape;
            this.ofShapes = ofShapes;
            Optional<StoredPlan> stored = store.load(key);
            liveness = stored.flatMap(StoredPlan::liveness);
            allocations = stored.flatMap(StoredPlan::allocations);
            recurring = stored.isPresent();
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
            ofShapes.learn(shape, trace);
            return new Placement(trace, MemoryPlanner.plan(trace.problem()));
        }

        @Override
        public synchronized void use(Placement placement) {
            allocations =
                    Optional.of(
                            new StoredPlan.Allocations(placement.trace(), placement.plan().plan()));
        }

        @Override
        public synchronized boolean markRecurring() {
            boolean isNew = !recurring;
            recurring = true;
            return isNew;
        }

        @Override
        public void save() {
            synchronized (writing) {
                StoredPlan now;
                boolean offered;
                synchronized (this) {
                    now = new StoredPlan(liveness, allocations);
                    offered = !recurring;
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
