package org.djlplan.memplan.runtime.torch;

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
}
