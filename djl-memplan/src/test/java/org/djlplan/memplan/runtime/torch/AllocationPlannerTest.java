package org.djlplan.memplan.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableList;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import org.djlplan.memplan.config.SearchMode;
import org.djlplan.memplan.graph.TightGraph;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.source.trace.Allocation;
import org.djlplan.memplan.source.trace.AllocationTrace;
import org.djlplan.memplan.store.AllocationPlan;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;
import org.junit.jupiter.api.Test;

class AllocationPlannerTest {

    private static final AllocationTrace TRACE = trace();
    private static final AllocationPlanner OFF = planner(new SearchMode.Off());
    private static final AllocationPlanner BACKGROUND = planner(new SearchMode.Background());
    private static final AllocationPlanner AT_LOAD =
            planner(new SearchMode.AtLoad(Duration.ofSeconds(60)));

    private static AllocationPlanner planner(SearchMode mode) {
        return new AllocationPlanner("best", mode);
    }

    /** No two events at once: what is freed after an operator is so before the next allocation. */
    static AllocationTrace trace() {
        List<UsageRecord> records =
                ImmutableList.sortedCopyOf(
                        Comparator.comparingInt(UsageRecord::first)
                                .thenComparingInt(UsageRecord::tensor),
                        UsageRecords.of(TightGraph.of(false)));
        int stride = 2 * records.size();
        ImmutableList.Builder<Allocation> allocations = ImmutableList.builder();
        for (int i = 0; i < records.size(); i++) {
            UsageRecord record = records.get(i);
            allocations.add(
                    new Allocation(
                            record.bytes(),
                            stride * record.first() + i,
                            OptionalInt.of(stride * record.last() + records.size() + i)));
        }
        return new AllocationTrace(allocations.build());
    }

    private static void assertNotSearched(EvaluatedPlan planned) {
        assertTrue(planned.plan().totalBytes() > TightGraph.MINIMAL_BYTES);
        assertFalse(planned.provedMinimal());
    }

    private static void assertMinimal(EvaluatedPlan planned) {
        assertEquals(TightGraph.MINIMAL_BYTES, planned.plan().totalBytes());
        assertEquals("exact-search", planned.strategy());
        assertTrue(planned.provedMinimal());
        assertFalse(BACKGROUND.isOpen(planned));
    }

    @Test
    void firstPlan_atLoad_isSearched() {
        assertMinimal(AT_LOAD.firstPlan(TRACE));
    }

    @Test
    void firstPlan_otherwise_isThatOfTheStrategies() {
        assertNotSearched(OFF.firstPlan(TRACE));
        EvaluatedPlan first = BACKGROUND.firstPlan(TRACE);
        assertNotSearched(first);
        assertTrue(BACKGROUND.isOpen(first));
        assertFalse(OFF.isOpen(first));
        assertMinimal(BACKGROUND.search(first));
    }

    @Test
    void search_noTimeForIt_isNotSearchedAgain() {
        AllocationPlanner hurried = planner(new SearchMode.AtLoad(Duration.ofNanos(1)));
        EvaluatedPlan searched = hurried.search(hurried.plan(TRACE));
        assertNotSearched(searched);
        assertFalse(hurried.isOpen(searched));
        assertFalse(BACKGROUND.isOpen(searched));
    }

    @Test
    void restored_searchedPlan_isUsedUnlessSearchIsOff() {
        AllocationPlan kept = new AllocationPlan(TRACE, AT_LOAD.firstPlan(TRACE).plan());
        assertSame(kept.plan(), AT_LOAD.restored(kept).plan());
        assertSame(kept.plan(), BACKGROUND.restored(kept).plan());
        assertNotSearched(OFF.restored(kept));
    }

    @Test
    void restored_planOfAStrategy_isSearchedAtLoad() {
        AllocationPlan kept = new AllocationPlan(TRACE, OFF.plan(TRACE).plan());
        assertMinimal(AT_LOAD.restored(kept));
        assertSame(kept.plan(), BACKGROUND.restored(kept).plan());
        assertSame(kept.plan(), OFF.restored(kept).plan());
    }
}
