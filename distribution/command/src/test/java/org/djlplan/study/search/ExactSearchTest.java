package org.djlplan.study.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.plan.Greedy;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.CutRectangle;
import org.djlplan.memplan.testing.Problems;
import org.djlplan.memplan.testing.Vectors;
import org.djlplan.thirdparty.guava.collect.Collections2;
import org.junit.jupiter.api.Test;

class ExactSearchTest {

    /** A problem that is too hard for the greedy strategies, and for a search to finish at once. */
    private static final List<UsageRecord> HARD =
            new CutRectangle(60, 4096, 400, 1, 0, 0).records(3);

    @Provide
    Arbitrary<List<UsageRecord>> few() {
        return Problems.records().map(records -> records.subList(0, Math.min(7, records.size())));
    }

    @Provide
    Arbitrary<PlanningProblem> aliased() {
        return Problems.aliased();
    }

    @Property(tries = 200)
    void search_fewUnits_equalsBestOfAllOrders(@ForAll("few") List<UsageRecord> records) {
        PlanningProblem problem = new PlanningProblem(records);
        SearchResult result = new ExactSearch().search(problem);
        assertEquals(smallest(records), result.plan().totalBytes());
        assertTrue(result.provedMinimal());
    }

    @Property(tries = 300)
    void search_aliasedProblems_givesValidPlansNoLargerThanGreedyOnes(
            @ForAll("aliased") PlanningProblem problem) {
        SearchResult result = new ExactSearch().search(problem);
        assertEquals(List.of(), PlanValidator.violations(result.plan(), 1));
        assertTrue(result.plan().totalBytes() <= Greedy.BY_SIZE.plan(problem).totalBytes());
        assertTrue(result.plan().totalBytes() >= LowerBounds.offsetBytes(problem.units()));
        assertEquals(result.plan(), ExactSearch.STRATEGY.plan(problem));
    }

    @Test
    void search_casesThatOpenVinoMisses_findsTheOptimum() {
        for (List<UsageRecord> records :
                List.of(Vectors.OPENVINO_INEFFICIENCY, Vectors.OPENVINO_NO_OVERLAPPING)) {
            SearchResult result = new ExactSearch().search(new PlanningProblem(records));
            assertEquals(5, result.plan().totalBytes());
            assertTrue(result.provedMinimal());
        }
    }

    @Test
    void search_nothing_isProvedAtOnce() {
        SearchResult result = new ExactSearch().search(new PlanningProblem(List.of()));
        assertEquals(0, result.plan().totalBytes());
        assertTrue(result.provedMinimal());
        assertEquals(0, result.nodes());
    }

    @Test
    void search_cutRectangle_fitsItsCapacity() {
        List<UsageRecord> records = new CutRectangle(20, 1024, 16, 32, 0, 0).records(5);
        SearchLimits limits = SearchLimits.ofNodes(2_000_000).withCapacityBytes(1024);
        assertEquals(
                1024,
                new ExactSearch(limits).search(new PlanningProblem(records)).plan().totalBytes());
    }

    @Test
    void search_capacityTooSmall_provesThatNothingFits() {
        // Four tensors whose breadth is 5 everywhere that matters, but no plan of 5 exists.
        List<UsageRecord> records =
                Vectors.records(0, 1, 2, 1, 2, 1, 2, 3, 2, 0, 0, 2, 3, 3, 2, 1, 2, 1);
        PlanningProblem problem = new PlanningProblem(records);
        long optimum = new ExactSearch().search(problem).plan().totalBytes();
        SearchResult result =
                new ExactSearch(SearchLimits.ofNodes(10_000).withCapacityBytes(optimum - 1))
                        .search(problem);
        assertTrue(result.lowerBoundBytes() > optimum - 1);
        assertTrue(result.plan().totalBytes() > optimum - 1);
    }

    @Test
    void search_enoughCapacity_endsAtThePlanItStartedFrom() {
        PlanningProblem problem = new PlanningProblem(HARD);
        OffsetPlan greedy = Greedy.BY_SIZE.plan(problem);
        SearchResult result =
                new ExactSearch(
                                SearchLimits.ofNodes(1_000_000)
                                        .withCapacityBytes(greedy.totalBytes()))
                        .improve(greedy);
        assertEquals(greedy, result.plan());
        assertFalse(result.provedMinimal());
        assertEquals(0, result.nodes());
    }

    @Test
    void search_timeLimit_endsWithTheBestSoFar() {
        PlanningProblem problem = new PlanningProblem(HARD);
        SearchResult result =
                new ExactSearch(SearchLimits.ofTime(Duration.ofMillis(300))).search(problem);
        assertEquals(List.of(), PlanValidator.violations(result.plan(), 1));
        assertTrue(result.nodes() > 0);
        assertTrue(result.lowerBoundBytes() >= LowerBounds.offsetBytes(HARD));
        assertTrue(result.plan().totalBytes() <= Greedy.BY_SIZE.plan(problem).totalBytes());
    }

    @Test
    void improve_interrupted_endsEarlyWithTheBestSoFar() {
        OffsetPlan greedy = Greedy.BY_SIZE.plan(new PlanningProblem(HARD));
        Thread.currentThread().interrupt();
        SearchResult result =
                new ExactSearch(SearchLimits.ofTime(Duration.ofDays(1))).improve(greedy);
        assertTrue(Thread.interrupted());
        assertEquals(List.of(), PlanValidator.violations(result.plan(), 1));
    }

    @Test
    void limits_wrong_areRejected() {
        assertThrows(IllegalArgumentException.class, () -> SearchLimits.ofNodes(0));
        assertThrows(
                IllegalArgumentException.class, () -> SearchLimits.ofTime(Duration.ofSeconds(-1)));
        assertThrows(
                IllegalArgumentException.class,
                () -> SearchLimits.ofNodes(1).withCapacityBytes(-1));
    }

    /**
     * Tries all orders: every pushed-down plan results from placing units in some order, each as
     * low as it fits.
     */
    private static long smallest(List<UsageRecord> records) {
        return Collections2.permutations(records).stream()
                .mapToLong(ExactSearchTest::totalInOrder)
                .min()
                .orElse(0);
    }

    private static long totalInOrder(List<UsageRecord> order) {
        List<UsageRecord> placed = new ArrayList<>();
        List<Long> offsets = new ArrayList<>();
        long total = 0;
        for (UsageRecord unit : order) {
            List<long[]> taken = new ArrayList<>();
            for (int i = 0; i < placed.size(); i++) {
                if (placed.get(i).overlaps(unit)) {
                    taken.add(new long[] {offsets.get(i), offsets.get(i) + placed.get(i).bytes()});
                }
            }
            taken.sort(Comparator.comparingLong(range -> range[0]));
            long offset = 0;
            for (long[] range : taken) {
                if (offset + unit.bytes() <= range[0]) {
                    break;
                }
                offset = Math.max(offset, range[1]);
            }
            placed.add(unit);
            offsets.add(offset);
            total = Math.max(total, offset + unit.bytes());
        }
        return total;
    }
}
