package org.djlplan.memplan.internal.planning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.greedy.Naive;
import org.djlplan.memplan.internal.runtime.torch.AllocationPlans;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.memplan.internal.store.MemoryStore;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.store.StoredPlan;
import org.junit.jupiter.api.Test;

class AllocationPlanningTest {

    /** Allocations one after another, which share a place unless the plan is naive. */
    private static final AllocationTrace TRACE =
            new AllocationTrace(
                    List.of(
                            new Allocation(64, 0, OptionalInt.of(1)),
                            new Allocation(64, 2, OptionalInt.of(3))));

    private static final List<ArrayType> INPUTS = List.of(new ArrayType("float32", List.of(1L)));
    private static final StoreKey KEY =
            new StoreKey(
                    "model", Map.of("engine", "PyTorch", "inputs", "[1:float32]", "threads", "1"));

    private final MemoryStore<StoredPlan> store = new MemoryStore<>();

    private AllocationPlans.OfInputs plans() {
        return new AllocationPlanning(
                        store,
                        new MemoryStore<>(),
                        new StoreKey("model", Map.of("engine", "PyTorch")))
                .of(INPUTS, 1);
    }

    private OffsetPlan stored() {
        return store.load(KEY).orElseThrow().allocations().orElseThrow().plan();
    }

    private void storeNaivePlan() {
        OffsetPlan plan = new Naive().plan(TRACE.problem());
        store.save(
                KEY,
                new StoredPlan(
                        Optional.empty(), Optional.of(new StoredPlan.Allocations(TRACE, plan))));
    }

    @Test
    void plan_newTrace_isMadeByStrategiesAndNotStoredYet() {
        assertEquals(64, plans().plan(TRACE).plan().arenaBytes());
        assertEquals(Optional.empty(), store.load(KEY));
    }

    @Test
    void load_storedPlan_isUsedUnchanged() {
        storeNaivePlan();
        assertEquals(128, plans().kept().orElseThrow().plan().arenaBytes());
    }

    @Test
    void use_otherAllocationsThanStored_replacesThem() {
        storeNaivePlan();
        AllocationTrace other =
                new AllocationTrace(List.of(new Allocation(192, 0, OptionalInt.of(1))));
        AllocationPlans.OfInputs plans = plans();
        plans.use(plans.plan(other));
        plans.save();
        assertEquals(192, stored().totalBytes());
        assertEquals(other, plans().kept().orElseThrow().trace());
    }

    @Test
    void learn_anotherLiveness_forgetsThePlan() {
        storeNaivePlan();
        AllocationPlans.OfInputs plans = plans();
        LivenessTrace liveness = new LivenessTrace(List.of());
        assertTrue(plans.learn(liveness));
        assertFalse(plans.learn(liveness));
        assertEquals(Optional.of(liveness), plans.liveness());
        assertEquals(Optional.empty(), plans.kept());
        plans.save();
        assertEquals(Optional.empty(), store.load(KEY).orElseThrow().allocations());
    }

    @Test
    void markRecurring_storedPlan_isAlreadyRecurring() {
        AllocationPlans.OfInputs first = plans();
        assertTrue(first.markRecurring());
        assertFalse(first.markRecurring());
        storeNaivePlan();
        assertFalse(plans().markRecurring());
    }
}
