package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class RecentPeakTest {

    private final RecentPeak peak = new RecentPeak();

    private void note(int times, long bytes) {
        for (int i = 0; i < times; i++) {
            peak.note(bytes);
        }
    }

    @Test
    void bytes_nothingNoted_isUnknown() {
        assertEquals(Long.MAX_VALUE, peak.bytes());
    }

    @Test
    void bytes_largeOneAmongSmallOnes_countsForSomeTime() {
        note(3, 10);
        assertEquals(10, peak.bytes());
        note(1, 500);
        note(RecentPeak.PREDICTIONS, 10);
        assertEquals(500, peak.bytes());
        note(RecentPeak.PREDICTIONS, 10);
        assertEquals(10, peak.bytes());
    }
}
