package org.djlplan.memplan.internal.planning;

import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.formula.Guess;
import org.djlplan.memplan.internal.formula.LearntShapes;
import org.djlplan.memplan.internal.formula.QuickPlan;
import org.djlplan.memplan.internal.formula.QuickPlanner;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.runtime.torch.AllocationPlans;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.memplan.internal.store.Store;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.thirdparty.guava.base.Supplier;
import org.djlplan.thirdparty.guava.base.Suppliers;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * The formulas for one model's predictions with inputs of the same types and ranks. They are read
 * from the store at first use, and stored as soon as two shapes were recorded, because one shape
 * alone predicts nothing. Stored formulas are a hint: a plan based on them is limited to the
 * machine's memory, and each of its places is checked when used.
 */
final class Shapes implements AllocationPlans.OfShapes {

    /** Cached, because asking the system takes longer than planning. */
    private static final Supplier<Long> MEMORY_BYTES =
            Suppliers.memoize(() -> new Machine().memoryBytes().orElse(Long.MAX_VALUE));

    private final Store<LearntShapes> store;
    private final StoreKey key;
    private volatile LearntShapes learnt;

    Shapes(Store<LearntShapes> store, StoreKey key) {
        this.store = store;
        this.key = key;
    }

    /** Returns the dimensions of all inputs. */
    static ImmutableLongArray shape(List<ArrayType> inputs) {
        ImmutableLongArray.Builder shape = ImmutableLongArray.builder();
        inputs.forEach(input -> shape.addAll(input.shape()));
        return shape.build();
    }

    private LearntShapes learnt() {
        LearntShapes now = learnt;
        return now == null ? read() : now;
    }

    private synchronized LearntShapes read() {
        if (learnt == null) {
            learnt = store.load(key).orElse(LearntShapes.NONE);
        }
        return learnt;
    }

    @Override
    public Optional<Guess> guess(ImmutableLongArray shape) {
        return learnt().guess(shape);
    }

    @Override
    public boolean wants(ImmutableLongArray shape) {
        return learnt().wants(shape);
    }

    @Override
    public Optional<QuickPlan> plan(Guess guess) {
        return QuickPlanner.plan(guess).filter(plan -> plan.arenaBytes() <= MEMORY_BYTES.get());
    }

    @Override
    public synchronized void learn(ImmutableLongArray shape, AllocationTrace trace) {
        learnt = read().with(shape, trace);
        if (learnt.recordings() > 1) {
            store.save(key, learnt);
        }
    }
}
