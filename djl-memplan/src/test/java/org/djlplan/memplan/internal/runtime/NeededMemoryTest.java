package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class NeededMemoryTest {

    private final NeededMemory needed = new NeededMemory();

    private void note(int times, long elements, long bytes) {
        for (int i = 0; i < times; i++) {
            needed.note(elements, bytes);
        }
    }

    @Test
    void expectedBytes_nothingNoted_isUnknown() {
        assertEquals(Long.MAX_VALUE, needed.expectedBytes(1));
    }

    @Test
    void expectedBytes_largeOneAmongSmallOnes_countsForSomeTime() {
        note(3, 100, 10);
        assertEquals(10, needed.expectedBytes(100));
        note(1, 100, 500);
        note(NeededMemory.PREDICTIONS, 100, 10);
        assertEquals(500, needed.expectedBytes(100));
        note(NeededMemory.PREDICTIONS, 100, 10);
        assertEquals(10, needed.expectedBytes(100));
    }

    @Test
    void expectedBytes_otherSizes_areThatOfTheNextLargerOne() {
        note(1, 100, 10);
        note(1, 10_000, 5_000);
        assertEquals(10, needed.expectedBytes(0));
        assertEquals(10, needed.expectedBytes(65));
        assertEquals(5_000, needed.expectedBytes(128));
        assertEquals(Long.MAX_VALUE, needed.expectedBytes(Long.MAX_VALUE));
    }
}
