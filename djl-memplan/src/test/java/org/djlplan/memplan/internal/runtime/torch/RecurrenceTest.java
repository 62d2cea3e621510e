package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RecurrenceTest {

    private final Recurrence<Integer> recurrence = new Recurrence<>();

    @Test
    void isWorthwhile_firstKinds_atOnce() {
        for (int kind = 0; kind < 8; kind++) {
            assertTrue(recurrence.isWorthwhile(kind));
        }
        assertFalse(recurrence.isWorthwhile(8));
        assertFalse(recurrence.isWorthwhile(0), "it had its turn");
    }

    @Test
    void isWorthwhile_laterKinds_whenTheyHaveComeBackOften() {
        for (int kind = 0; kind < 20; kind++) {
            recurrence.isWorthwhile(kind);
        }
        int predictions = 1;
        while (!recurrence.isWorthwhile(19)) {
            predictions++;
        }
        assertEquals(63, predictions);
        assertTrue(recurrence.isWorthwhile(19));
    }

    @Test
    void isWorthwhile_manyKindsInTurns_never() {
        for (int i = 0; i < 100_000; i++) {
            assertEquals(i < 8, recurrence.isWorthwhile(i % 40));
        }
    }

    @Test
    void isWorthwhile_alwaysAnotherKind_never() {
        for (int kind = 0; kind < 100_000; kind++) {
            assertEquals(kind < 8, recurrence.isWorthwhile(kind));
        }
    }

    @Test
    void isPassedOver_neverAPlanForLong_threeInFour() {
        for (int kind = 0; kind < 264; kind++) {
            assertFalse(recurrence.isPassedOver(), "kind " + kind);
            boolean unused = recurrence.isWorthwhile(kind);
        }
        assertEquals(75, passedOver(100));
    }

    @Test
    void isPassedOver_aPlanWasFound_noMore() {
        for (int kind = 0; kind < 264; kind++) {
            boolean unused = recurrence.isWorthwhile(kind);
        }
        recurrence.found();
        assertEquals(0, passedOver(100));
    }

    /** If few kinds of inputs come back, each is sampled often enough to get a plan. */
    @Test
    void isPassedOver_aKindBeginsToComeBack_isWorthwhileSoon() {
        for (int kind = 0; kind < 264; kind++) {
            boolean unused = recurrence.isWorthwhile(kind);
        }
        int predictions = 1;
        while (recurrence.isPassedOver() || !recurrence.isWorthwhile(7)) {
            predictions++;
        }
        assertTrue(predictions <= 4 * 64, predictions + " predictions");
        assertEquals(0, passedOver(100));
    }

    private int passedOver(int predictions) {
        int count = 0;
        for (int i = 0; i < predictions; i++) {
            count += recurrence.isPassedOver() ? 1 : 0;
        }
        return count;
    }
}
