package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.machine.MemoryRoom;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Test;

class WeightBudgetTest {

    private static final long MEGA = 1_000_000;
    private static final long ENGINE = OtherMemory.LEAST_BYTES;
    private static final long ARENA = 10 * MEGA;
    private static final long PIECE = WeightTraces.PIECE_BYTES;

    /** The bytes that the process has allocated since the model was loaded. */
    private long grown;

    private final OtherMemory other =
            new OtherMemory(() -> grown, () -> 0, new OtherMemory.Before(0, 0));
    private final StreamedKind kind = new StreamedKind(new PredictionKind(ImmutableList.of(), 1));

    private static BudgetResolver bytes(long bytes) {
        return new BudgetResolver(new Budget.Bytes(bytes), 1);
    }

    private WeightBudget budget(long bytes, boolean bestEffort) {
        WeightNames names =
                new WeightNames(
                        () -> Map.of("linear", 2 * PIECE),
                        () -> List.of(new WeightFile.Block(PIECE, 2 * PIECE)));
        return new WeightBudget("model", bytes(bytes), bestEffort, other, names);
    }

    private static BudgetTooSmallException cause(IllegalStateException problem) {
        return (BudgetTooSmallException) problem.getCause();
    }

    /** Two pieces are used at once. */
    private void learn() {
        kind.learn(WeightTraces.of(1, 2, 1));
    }

    @Test
    void checkAtLoad_engineAndOnePieceDoNotFit_fails() {
        assertDoesNotThrow(() -> budget(ENGINE + PIECE, false).checkAtLoad(PIECE));
        assertDoesNotThrow(() -> budget(1, true).checkAtLoad(PIECE));
        IllegalStateException problem =
                assertThrows(
                        IllegalStateException.class,
                        () -> budget(ENGINE + PIECE - 1, false).checkAtLoad(PIECE));
        assertEquals(ENGINE + PIECE, cause(problem).leastBytes());
        assertEquals(
                "model: a budget of 25.0 MB is too small: the engine takes 24.0 MB, and one piece of"
                        + " the weights up to 1.0 MB; at least 25.1 MB",
                problem.getMessage());
    }

    @Test
    void windowBytes_isTheRestOnceTheEngineIsMeasured() {
        WeightBudget budget = budget(100 * MEGA, false);
        assertEquals(0, budget.windowBytes(ARENA, 0));
        for (int i = 0; i < OtherMemory.SETTLING; i++) {
            budget.predicted();
        }
        assertEquals(100 * MEGA - ENGINE - ARENA, budget.windowBytes(ARENA, 0));
    }

    @Test
    void judge_nothingIsRecorded_accepts() {
        assertDoesNotThrow(() -> budget(1, false).judge(kind, ARENA, 0));
    }

    @Test
    void judge_certainlyTooSmall_failsAndNamesTheWeight() {
        learn();
        long least = ENGINE + ARENA + 2 * PIECE;
        assertDoesNotThrow(() -> budget(least, false).judge(kind, ARENA, 0));
        IllegalStateException problem =
                assertThrows(
                        IllegalStateException.class,
                        () -> budget(least - 1, false).judge(kind, ARENA, 0));
        assertEquals(least, cause(problem).leastBytes());
        assertTrue(
                problem.getMessage().contains("2.1 MB of weights at once (linear); at least"),
                problem::getMessage);
    }

    @Test
    void judge_bestEffort_warnsOnceWhenTheEngineIsMeasured() {
        learn();
        WeightBudget budget = budget(1, true);
        try (LogCapture log = new LogCapture()) {
            budget.judge(kind, ARENA, 0);
            assertEquals(List.of(), log.lines("WARN"));
            for (int i = 0; i < OtherMemory.SETTLING; i++) {
                budget.predicted();
            }
            budget.judge(kind, ARENA, 0);
            budget.judge(kind, ARENA, 0);
            assertEquals(1, log.lines("WARN").size());
        }
    }

    /** Other code may have allocated the measured bytes. */
    @Test
    void judge_tooSmallForWhatWasMeasuredOnly_goesOn() {
        learn();
        grown = 40 * MEGA;
        WeightBudget budget = budget(ENGINE + ARENA + 2 * PIECE, false);
        budget.predicted();
        assertTrue(budget.leastBytes(2 * PIECE, ARENA) > ENGINE + ARENA + 2 * PIECE);
        assertDoesNotThrow(() -> budget.judge(kind, ARENA, 0));
    }

    @Test
    void judge_wasHeldForLong_goesOnWithLess() {
        learn();
        WeightBudget budget = budget(ENGINE + ARENA + 2 * PIECE, false);
        budget.judge(kind, ARENA, 0);
        assertFalse(kind.isAccepted(), "not yet predicted");
        for (int i = 0; i < OtherMemory.SETTLING; i++) {
            kind.predicted();
        }
        budget.judge(kind, ARENA, 0);
        assertTrue(kind.isAccepted());
        assertDoesNotThrow(() -> budget.judge(kind, 2 * ARENA, 0));
    }

    @Test
    void replace_returnsWhetherItIsLess() throws Exception {
        WeightBudget budget = budget(100 * MEGA, false);
        assertTrue(budget.replace(bytes(90 * MEGA), PIECE, ARENA, 0));
        assertFalse(budget.replace(bytes(95 * MEGA), PIECE, ARENA, 0));
        assertEquals(95 * MEGA, budget.bytes(0));
    }

    @Test
    void replace_tooSmall_keepsTheBudget() {
        WeightBudget budget = budget(100 * MEGA, false);
        long least = ENGINE + ARENA + PIECE;
        BudgetTooSmallException problem =
                assertThrows(
                        BudgetTooSmallException.class,
                        () -> budget.replace(bytes(least - 1), PIECE, ARENA, 0));
        assertEquals(least, problem.leastBytes());
        assertEquals(100 * MEGA, budget.bytes(0));
        assertDoesNotThrow(() -> budget(100 * MEGA, true).replace(bytes(1), PIECE, ARENA, 0));
    }

    /** The container's memory includes the model's own. */
    @Test
    void replace_auto_countsTheModelsMemoryAsItsOwn() throws Exception {
        long limit = 100 * MEGA;
        long window = 30 * MEGA;
        MemoryRoom room = new MemoryRoom(limit, ENGINE + ARENA + window, 0);
        BudgetResolver auto = new BudgetResolver(new Budget.Auto(), 1, () -> room, () -> 0);
        WeightBudget budget = budget(limit, false);
        budget.replace(auto, PIECE, ARENA, window);
        assertEquals(limit - limit / 20, budget.bytes(ARENA + window));
    }
}
