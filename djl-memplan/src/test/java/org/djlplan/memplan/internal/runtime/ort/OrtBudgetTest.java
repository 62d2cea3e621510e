package org.djlplan.memplan.internal.runtime.ort;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.junit.jupiter.api.Test;

class OrtBudgetTest {

    private static final long WEIGHTS = 10_000_000;

    private final OrtBudget budget = new OrtBudget(WEIGHTS, () -> 12_000_000, false);

    @Test
    void arenaBytes_isWhatTheWeightsLeave() {
        assertEquals(2_000_000, budget.arenaBytes());
        assertEquals(4096, new OrtBudget(WEIGHTS, () -> 1, false).arenaBytes(), "the least");
    }

    @Test
    void check_moreThanTheWeightsLeave_failsWithTheLeastBudget() {
        budget.note(1, 2_000_000);
        assertDoesNotThrow(budget::check);
        budget.note(1, 2_000_001);
        BudgetTooSmallException problem =
                assertThrows(BudgetTooSmallException.class, budget::check);
        assertEquals(12_000_001, problem.leastBytes());
        assertEquals(
                "a budget of 12.0 MB is too small: at least 12.1 MB, of which 10.0 MB are weights",
                problem.getMessage());
    }

    @Test
    void set_weightsHaveNoRoom_keepsTheBudget() throws Exception {
        assertThrows(BudgetTooSmallException.class, () -> budget.set(() -> WEIGHTS + 4095));
        assertEquals(2_000_000, budget.arenaBytes());
        budget.set(() -> WEIGHTS + 4096);
        assertEquals(4096, budget.arenaBytes());
    }

    @Test
    void exceeded_firstPrediction_namesWhatItReached() {
        BudgetTooSmallException problem = budget.exceeded(2_000_000, 5_000_000, 100);
        assertEquals(WEIGHTS + 5_000_000, problem.leastBytes());
        assertTrue(problem.getMessage().contains("of 12.0 MB is too small: at least 15.0 MB"));
    }

    @Test
    void exceeded_smallerPredictionIsKnown_namesWhatIsExpected() {
        budget.note(10, 1_000_000);
        budget.note(5, 900_000);
        BudgetTooSmallException problem = budget.exceeded(2_000_000, 5_000_000, 100);
        assertEquals(WEIGHTS + 10_000_000, problem.leastBytes());
        assertTrue(problem.getMessage().contains("about 20.0 MB"), problem.getMessage());
    }

    @Test
    void bestEffort_anyBudget_limitsNothing() throws Exception {
        OrtBudget any = new OrtBudget(WEIGHTS, () -> 1000, true);
        any.set(() -> 1);
        any.note(1, 2_000_000);
        any.check();
        assertEquals(Long.MAX_VALUE, any.arenaBytes());
        assertEquals(WEIGHTS + 2_000_000, any.report().leastBudgetBytes());
    }

    @Test
    void report_hasTheLeastBudgetOfTheLargestPrediction() {
        assertEquals(WEIGHTS + 4096, budget.report().leastBudgetBytes());
        budget.note(1, 1_500_000);
        assertEquals(12_000_000, budget.report().budgetBytes());
        assertEquals(11_500_000, budget.report().leastBudgetBytes());
    }
}
