package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Test;

class DivergencesTest {

    private final Divergences divergences = new Divergences();

    private int untilTooMany() {
        int count = 1;
        while (!divergences.areTooMany(false)) {
            count++;
        }
        return count;
    }

    @Test
    void areTooMany_inARow_afterTwiceAsManyEachTime() {
        assertEquals(3, untilTooMany());
        assertEquals(6, untilTooMany());
        assertEquals(12, untilTooMany());
    }

    @Test
    void areTooMany_oneIsAsPlannedBetween_countsAnew() {
        for (int i = 0; i < 20; i++) {
            assertFalse(divergences.areTooMany(i % 3 == 2));
        }
        assertFalse(divergences.areTooMany(true));
        assertEquals(3, untilTooMany());
    }
}
