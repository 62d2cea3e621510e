package org.djlplan.study.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.CutRectangle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KnownOptimumTest {

    private static final int SEEDS = 30;

    /** Tests forty problems of each kind; the seed fixes all numbers. */
    @ParameterizedTest(
            name = "{0} operators, {2} pieces, steps of {3}, {4} dropped, {5} long-lived")
    @CsvSource({
        "12, 1024, 12, 1, 0, 0",
        "20, 4096, 24, 1, 0, 0",
        "30, 4096, 48, 1, 0, 0",
        "30, 4096, 48, 64, 0, 0",
        "40, 4096, 64, 256, 0, 0",
        "30, 4096, 60, 1, 0.1, 0",
        "40, 4096, 90, 64, 0.3, 0",
        "60, 8192, 120, 1, 0.5, 0",
        "30, 4096, 40, 16, 0, 4",
        "60, 4096, 80, 64, 0.2, 8",
        "300, 4096, 80, 64, 0.1, 2",
        "400, 2048, 150, 128, 0.3, 0",
    })
    void search_cutRectangle_findsAndProvesTheOptimum(
            int operators, int bytes, int pieces, int sizeStep, double dropped, int longLived) {
        CutRectangle rectangle =
                new CutRectangle(operators, bytes, pieces, sizeStep, dropped, longLived);
        for (int seed = 0; seed < SEEDS; seed++) {
            assertOptimal(rectangle.records(seed), bytes, "seed " + seed);
        }
    }

    /**
     * A chain never needs more than its two largest neighbouring tensors: they lie at the arena's
     * two ends.
     */
    @Test
    void search_chains_reachTheLowerBound() {
        for (int seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            List<UsageRecord> records = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                records.add(new UsageRecord(i, i, i + 1, 1 + random.nextInt(1000)));
            }
            assertOptimal(records, LowerBounds.offsetBytes(records), "seed " + seed);
        }
    }

    private static void assertOptimal(List<UsageRecord> records, long optimum, String name) {
        PlanningProblem problem = new PlanningProblem(records);
        SearchResult result = new ExactSearch().search(problem);
        assertEquals(optimum, result.plan().totalBytes(), name);
        assertTrue(result.provedMinimal(), name);
        assertEquals(List.of(), PlanValidator.violations(result.plan(), 1), name);
    }
}
