package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.machine.MemoryRoom;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Maps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        return budget(bytes, bestEffort, List.of("linear"));
    }

    /**
     * @param linears names of weights as large as two pieces
     */
    private WeightBudget budget(long bytes, boolean bestEffort, List<String> linears) {
        WeightNames names =
                new WeightNames(
                        () -> Maps.toMap(linears, name -> 2 * PIECE - 1),
                        () -> List.of(new WeightFile.Block(PIECE, 2 * PIECE)));
        return new WeightBudget("model", bytes(bytes), bestEffort, other, PIECE, names);
    }

    private static BudgetTooSmallException cause(IllegalStateException problem) {
        return (BudgetTooSmallException) problem.getCause();
    }

    /** Two pieces are used at once. */
    private Optional<StreamedKind> learnt() {
        kind.learn(WeightTraces.of(1, 2, 1));
        return Optional.of(kind);
    }

    private void settle(WeightBudget budget) {
        for (int i = 0; i < OtherMemory.SETTLING; i++) {
            budget.predicted();
        }
    }

    @Test
    void check_noRoomForAnyPrediction_fails() {
        assertDoesNotThrow(() -> budget(ENGINE + PIECE, false).check(Optional.empty(), 0, 0));
        assertDoesNotThrow(() -> budget(1, true).check(Optional.empty(), 0, 0));
        IllegalStateException problem =
                assertThrows(
                        IllegalStateException.class,
                        () -> budget(ENGINE + PIECE - 1, false).check(Optional.empty(), 0, 0));
        assertEquals(ENGINE + PIECE, cause(problem).leastBytes());
        assertEquals(
                "model: a budget of 31.0 MB is too small: at least 31.1 MB, of which 30.0 MB are"
                        + " for the engine, 1.0 MB for weights that one operator uses at once, and"
                        + " 0 bytes for activations and outputs",
                problem.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "'', ''",
        "a, ' (a)'",
        "a b c, ' (a or b or c)'",
        "a b c d, ' (a or b or c or one as large)'"
    })
    void check_kindIsKnown_namesItsLargestWeights(String linears, String named) {
        List<String> names = Splitter.on(' ').omitEmptyStrings().splitToList(linears);
        IllegalStateException problem =
                assertThrows(
                        IllegalStateException.class,
                        () -> budget(ENGINE, false, names).check(learnt(), 0, 0));
        String message = problem.getMessage();
        assertTrue(
                message.contains("weights that one operator uses at once" + named + ","), message);
    }

    @Test
    void windowBytes_isTheRestOnceTheEngineIsMeasured() {
        WeightBudget budget = budget(100 * MEGA, false);
        assertEquals(0, budget.windowBytes(ARENA, 0));
        settle(budget);
        assertEquals(100 * MEGA - ENGINE - ARENA, budget.windowBytes(ARENA, 0));
    }

    @Test
    void check_kindIsNotKnown_countsOnePiece() {
        Optional<StreamedKind> unknown = Optional.of(kind);
        assertDoesNotThrow(() -> budget(ENGINE + PIECE, false).check(unknown, 0, 0));
        assertEquals(ARENA, budget(ENGINE + PIECE + ARENA, false).limitBytes(unknown, 0));
    }

    /** Other code may have allocated the measured bytes. */
    @Test
    void limitBytes_moreMemoryIsMeasured_isTheSame() {
        Optional<StreamedKind> known = learnt();
        grown = 40 * MEGA;
        WeightBudget budget = budget(ENGINE + ARENA + 2 * PIECE, false);
        settle(budget);
        assertEquals(ARENA, budget.limitBytes(known, 0));
        assertTrue(budget.windowBytes(ARENA, 0) < 2 * PIECE);
    }

    @Test
    void replace_returnsWhetherItIsLess() throws Exception {
        WeightBudget budget = budget(100 * MEGA, false);
        assertTrue(budget.replace(bytes(90 * MEGA), learnt(), ARENA));
        assertFalse(budget.replace(bytes(95 * MEGA), learnt(), ARENA));
        assertEquals(95 * MEGA, budget.bytes(0));
    }

    @Test
    void replace_noRoomForAnyPrediction_keepsTheBudget() throws Exception {
        WeightBudget budget = budget(100 * MEGA, false);
        long least = ENGINE + 2 * PIECE;
        BudgetTooSmallException problem =
                assertThrows(
                        BudgetTooSmallException.class,
                        () -> budget.replace(bytes(least - 1), learnt(), ARENA));
        assertEquals(least, problem.leastBytes());
        assertEquals(100 * MEGA, budget.bytes(0));
        assertTrue(budget.replace(bytes(least), learnt(), ARENA));
        assertTrue(budget(100 * MEGA, true).replace(bytes(1), learnt(), ARENA));
    }

    /** The container's memory includes the model's own. */
    @Test
    void replace_auto_countsTheModelsMemoryAsItsOwn() throws Exception {
        long limit = 100 * MEGA;
        long window = 30 * MEGA;
        MemoryRoom room = new MemoryRoom(limit, ENGINE + ARENA + window, 0);
        BudgetResolver auto = new BudgetResolver(new Budget.Auto(), 1, () -> room, () -> 0);
        WeightBudget budget = budget(limit, false);
        budget.replace(auto, learnt(), ARENA + window);
        assertEquals(limit - limit / 20, budget.bytes(ARENA + window));
    }
}
