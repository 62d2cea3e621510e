package org.djlplan.memplan.planning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.config.InPlace;
import org.djlplan.memplan.config.PlanningOptions;
import org.djlplan.memplan.config.SearchMode;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.plan.portfolio.PlanImprover;
import org.djlplan.memplan.runtime.torch.AllocationPlans;
import org.djlplan.memplan.runtime.torch.AllocationPlans.Placement;
import org.djlplan.memplan.source.block.LivenessTrace;
import org.djlplan.memplan.source.trace.Allocation;
import org.djlplan.memplan.source.trace.AllocationTrace;
import org.djlplan.memplan.store.MemoryStore;
import org.djlplan.memplan.store.SearchedPlan;
import org.djlplan.memplan.store.StoreKey;
import org.djlplan.memplan.store.StoreLock;
import org.djlplan.memplan.store.StoredPlan;
import org.djlplan.memplan.testing.TightGraph;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AllocationPlanningTest {

    private static final AllocationTrace TRACE = TightTrace.make();
    private static final SearchMode OFF = new SearchMode.Off();
    private static final SearchMode BACKGROUND = new SearchMode.Background();
    private static final SearchMode AT_LOAD = new SearchMode.AtLoad(Duration.ofSeconds(60));
    private static final long BACKGROUND_MILLIS = SearchMode.BACKGROUND_LIMIT.toMillis();

    private static final List<ArrayType> INPUTS = List.of(new ArrayType("float32", List.of(1L)));
    private static final StoreKey KEY =
            new StoreKey(
                    "model", Map.of("engine", "PyTorch", "inputs", "[1:float32]", "threads", "1"));

    private final MemoryStore<StoredPlan> store = new MemoryStore<>();
    private final List<AllocationPlans.OfInputs> opened = new ArrayList<>();

    @AfterEach
    void close() {
        opened.forEach(AllocationPlans.OfInputs::close);
    }

    private AllocationPlans.OfInputs plans(SearchMode search) {
        AllocationPlans.OfInputs plans =
                new AllocationPlanning(
                                new PlanningOptions("best", InPlace.AUTO, search),
                                store,
                                new StoreKey("model", Map.of("engine", "PyTorch")))
                        .of(INPUTS, 1);
        opened.add(plans);
        return plans;
    }

    private EvaluatedPlan kept(SearchMode search) {
        return plans(search).kept().orElseThrow().plan();
    }

    private SearchedPlan stored() {
        return store.load(KEY).orElseThrow().allocations().orElseThrow().plan();
    }

    private void store(EvaluatedPlan plan) {
        store.save(
                KEY,
                new StoredPlan(
                        Optional.empty(),
                        Optional.of(new StoredPlan.Allocations(TRACE, SearchedPlan.of(plan)))));
    }

    private static EvaluatedPlan greedy() {
        return MemoryPlanner.plan(TRACE.problem(), "best");
    }

    /** The plan of a search that took a time of ten seconds. */
    private static EvaluatedPlan searched() {
        return MemoryPlanner.searched(greedy(), PlanImprover.within(Duration.ofSeconds(60)))
                .searchedFor(BACKGROUND_MILLIS);
    }

    private static void assertGreedy(EvaluatedPlan planned) {
        assertTrue(planned.arenaBytes() > TightGraph.MINIMAL_BYTES);
        assertFalse(planned.provedMinimal());
    }

    private static void assertMinimal(EvaluatedPlan planned) {
        assertEquals(TightGraph.MINIMAL_BYTES, planned.arenaBytes());
        assertEquals("exact-search", planned.strategy());
        assertTrue(planned.provedMinimal());
    }

    @Test
    void plan_atLoad_isSearchedIfItMayWait() {
        assertMinimal(plans(AT_LOAD).plan(TRACE, true).plan());
        assertGreedy(plans(AT_LOAD).plan(TRACE, false).plan());
    }

    @Test
    void plan_otherwise_isThatOfTheStrategies() {
        assertGreedy(plans(OFF).plan(TRACE, true).plan());
        assertGreedy(plans(BACKGROUND).plan(TRACE, true).plan());
        assertEquals(Optional.empty(), store.load(KEY), "not used yet");
    }

    @Test
    void use_inBackground_keepsASmallerPlanForLaterRuns() throws Exception {
        AllocationPlans.OfInputs plans = plans(BACKGROUND);
        plans.use(plans.plan(TRACE, true));
        plans.save();
        assertTrue(store.saves.tryAcquire(2, 30, TimeUnit.SECONDS));
        assertEquals(BACKGROUND_MILLIS, stored().searchedMillis());
        EvaluatedPlan next = kept(BACKGROUND);
        assertMinimal(next);
        plans(BACKGROUND).use(new Placement(TRACE, next));
        SearchThread.awaitEnd();
        assertEquals(0, store.saves.availablePermits(), "it is not searched again");
    }

    @Test
    void kept_searchedPlan_isUsedUnlessSearchIsOff() {
        store(searched());
        assertMinimal(kept(AT_LOAD));
        assertMinimal(kept(BACKGROUND));
        assertGreedy(kept(OFF));
    }

    @Test
    void kept_planOfAStrategy_isSearchedAtLoadAndKept() {
        store(greedy());
        assertGreedy(kept(OFF));
        assertGreedy(kept(BACKGROUND));
        assertEquals(1, store.saves.availablePermits());
        assertMinimal(kept(AT_LOAD));
        assertEquals(2, store.saves.availablePermits());
        assertTrue(stored().provedMinimal());
    }

    @Test
    void kept_searchedInVain_isNotSearchedAgainUnlessForLonger() throws Exception {
        store(greedy());
        SearchMode hurried = new SearchMode.AtLoad(Duration.ofNanos(1));
        assertGreedy(kept(hurried));
        assertEquals(1, stored().searchedMillis());
        assertGreedy(kept(hurried));
        assertEquals(2, store.saves.availablePermits(), "it is not searched again");
        AllocationPlans.OfInputs longer = plans(BACKGROUND);
        longer.use(longer.kept().orElseThrow());
        assertTrue(store.saves.tryAcquire(3, 30, TimeUnit.SECONDS));
        assertMinimal(kept(BACKGROUND));
    }

    @Test
    void use_anotherOneSearches_isLeftToThat() throws Exception {
        AllocationPlans.OfInputs plans = plans(BACKGROUND);
        StoreLock othersLock = store.tryLock(KEY).orElseThrow();
        try {
            plans.use(plans.plan(TRACE, true));
            SearchThread.awaitEnd();
        } finally {
            othersLock.close();
        }
        plans.save();
        assertEquals(0, stored().searchedMillis());
    }

    /** What is saved later must not replace the other one's plan by one that was not searched. */
    @Test
    void use_anotherOneHasSearched_keepsItsPlan() throws Exception {
        AllocationPlans.OfInputs plans = plans(BACKGROUND);
        Placement own = plans.plan(TRACE, true);
        store(searched());
        plans.use(own);
        SearchThread.awaitEnd();
        assertEquals(1, store.saves.availablePermits(), "it is not searched again");
        plans.save();
        assertMinimal(stored().evaluated());
    }

    @Test
    void use_otherAllocationsThanThoseThatAreKept_replacesThem() {
        store(searched());
        AllocationTrace other =
                new AllocationTrace(List.of(new Allocation(64, 0, OptionalInt.of(1))));
        AllocationPlans.OfInputs plans = plans(BACKGROUND);
        plans.use(plans.plan(other, true));
        plans.save();
        assertEquals(64, stored().evaluated().arenaBytes());
    }

    @Test
    void learn_anotherLiveness_forgetsThePlan() {
        store(searched());
        AllocationPlans.OfInputs plans = plans(BACKGROUND);
        LivenessTrace liveness = new LivenessTrace(List.of());
        assertTrue(plans.learn(liveness));
        assertFalse(plans.learn(liveness));
        assertEquals(Optional.of(liveness), plans.liveness());
        assertEquals(Optional.empty(), plans.kept());
        plans.save();
        assertEquals(Optional.empty(), store.load(KEY).orElseThrow().allocations());
    }

    @Test
    void cameBack_whatWasKept_isNothingNew() {
        AllocationPlans.OfInputs first = plans(OFF);
        assertTrue(first.cameBack());
        assertFalse(first.cameBack());
        store(greedy());
        assertFalse(plans(OFF).cameBack());
    }
}
