package org.djlplan.memplan.internal.runtime.ort;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.report.BudgetReport;
import org.junit.jupiter.api.Test;

class OrtBudgetTest {

    private static final long WEIGHTS = 10_000_000;

    private final OrtBudget budget = new OrtBudget(WEIGHTS, () -> 12_000_000);

    @Test
    void arenaBytes_isWhatTheWeightsLeave() {
        assertEquals(2_000_000, budget.arenaBytes());
        assertEquals(4096, new OrtBudget(WEIGHTS, () -> 1).arenaBytes(), "the least");
    }

    @Test
    void check_moreThanTheWeightsLeave_failsWithTheLeastBudget() {
        assertDoesNotThrow(() -> budget.check(2_000_000));
        BudgetTooSmallException problem =
                assertThrows(BudgetTooSmallException.class, () -> budget.check(2_000_001));
        assertEquals(12_000_001, problem.leastBytes());
        assertEquals(
                "a budget of 12.0 MB is too small: at least 12.1 MB, of which 10.0 MB are weights",
                problem.getMessage());
    }

    @Test
    void set_weightsHaveNoRoom_keepsTheBudget() throws Exception {
        assertThrows(BudgetTooSmallException.class, () -> budget.set(() -> WEIGHTS + 4095));
        assertEquals(12_000_000, budget.bytes().getAsLong());
        budget.set(() -> WEIGHTS + 4096);
        assertEquals(4096, budget.arenaBytes());
    }

    @Test
    void exceeded_names_whatThePredictionNeeded() {
        assertEquals(WEIGHTS + 5_000_000, budget.exceeded(5_000_000).leastBytes());
    }

    @Test
    void report_hasTheLeastBudgetOfTheLargestPrediction() {
        BudgetReport report = budget.report(1_500_000);
        assertEquals(12_000_000, report.budgetBytes());
        assertEquals(11_500_000, report.leastBudgetBytes());
        assertEquals(WEIGHTS + 4096, budget.report(0).leastBudgetBytes());
    }
}
