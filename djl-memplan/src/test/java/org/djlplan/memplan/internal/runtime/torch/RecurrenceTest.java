package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecurrenceTest {

    private final Recurrence<Integer> recurrence = new Recurrence<>();

    @Test
    void isWorthwhile_firstKind_atOnce() {
        assertTrue(recurrence.isWorthwhile(0));
        assertFalse(recurrence.isWorthwhile(1));
    }

    @Test
    void isWorthwhile_fewKindsInTurns_theSecondTime() {
        Set<Integer> planned = new HashSet<>();
        for (int i = 0; i < 16; i++) {
            int kind = i % 8;
            if (!planned.contains(kind) && recurrence.isWorthwhile(kind)) {
                planned.add(kind);
            }
            assertEquals(1 + Math.max(0, i - 8), planned.size(), "prediction " + i);
        }
    }

    @Test
    void isWorthwhile_secondOfManyPredictions_onlyIfItComesSoon() {
        for (int kind = 0; kind < 32; kind++) {
            boolean unused = recurrence.isWorthwhile(kind);
        }
        assertFalse(recurrence.isWorthwhile(1));
    }

    @Test
    void isWorthwhile_pairsOfKinds_eightAtMost() {
        int worthwhile = 0;
        for (int i = 0; i < 32; i++) {
            worthwhile += recurrence.isWorthwhile(i / 2) ? 1 : 0;
        }
        assertEquals(8, worthwhile);
    }

    @Test
    void isWorthwhile_laterKinds_whenTheyHaveComeBackOften() {
        for (int kind = 0; kind < 64; kind++) {
            boolean unused = recurrence.isWorthwhile(kind);
        }
        int predictions = 1;
        while (!recurrence.isWorthwhile(63)) {
            predictions++;
        }
        assertEquals(63, predictions);
        assertTrue(recurrence.isWorthwhile(63));
    }

    @Test
    void isWorthwhile_manyKindsInTurns_never() {
        for (int i = 0; i < 100_000; i++) {
            assertEquals(i == 0, recurrence.isWorthwhile(i % 40));
        }
    }

    @Test
    void isWorthwhile_alwaysAnotherKind_never() {
        for (int kind = 0; kind < 100_000; kind++) {
            assertEquals(kind == 0, recurrence.isWorthwhile(kind));
        }
    }

    @Test
    void isPassedOver_neverAPlanForLong_threeInFour() {
        for (int kind = 0; kind < 257; kind++) {
            assertFalse(recurrence.isPassedOver(), "kind " + kind);
            boolean unused = recurrence.isWorthwhile(kind);
        }
        assertEquals(75, passedOver(100));
    }

    @Test
    void isPassedOver_aPlanWasFound_noMore() {
        for (int kind = 0; kind < 257; kind++) {
            boolean unused = recurrence.isWorthwhile(kind);
        }
        recurrence.found();
        assertEquals(0, passedOver(100));
    }

    /** One of few kinds that come back is looked at often enough to be worth a plan. */
    @Test
    void isPassedOver_aKindBeginsToComeBack_isWorthwhileSoon() {
        for (int kind = 0; kind < 257; kind++) {
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
