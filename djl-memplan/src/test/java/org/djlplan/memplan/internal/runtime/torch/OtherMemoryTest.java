package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class OtherMemoryTest {

    private static final long MEGA = 1_000_000;
    private static final long BEFORE = 300 * MEGA;

    private long own = BEFORE;
    private long libraries = BEFORE;
    private int looks;
    private final OtherMemory other =
            new OtherMemory(
                    () -> {
                        looks++;
                        return own;
                    },
                    () -> libraries,
                    new OtherMemory.Before(BEFORE, BEFORE));

    private void predict(int times) {
        for (int i = 0; i < times; i++) {
            other.predicted();
        }
    }

    @Test
    void bytes_initially_isTheNeedOfAnyModel() {
        assertEquals(OtherMemory.LEAST_BYTES, other.bytes());
        assertFalse(other.settled());
        predict(OtherMemory.SETTLING);
        assertTrue(other.settled());
        assertEquals(OtherMemory.LEAST_BYTES, other.bytes());
    }

    @Test
    void bytes_growth_isMeasuredGrowthPlusMargin() {
        own = BEFORE + 30 * MEGA - 1;
        predict(1);
        assertEquals(30 * MEGA + OtherMemory.GROWTH_BYTES, other.bytes());
        own = BEFORE;
        predict(1);
        assertEquals(30 * MEGA + OtherMemory.GROWTH_BYTES, other.bytes());
    }

    /** For example code of the engine's kernels, which the first predictions load. */
    @Test
    void bytes_pagesOfLibraries_areCountedInTheFirstPredictions() {
        own = BEFORE + 20 * MEGA;
        libraries = BEFORE + 16 * MEGA;
        predict(OtherMemory.SETTLING);
        assertEquals(36 * MEGA + OtherMemory.GROWTH_BYTES, other.bytes());
        libraries = BEFORE + 30 * MEGA;
        predict(100);
        assertEquals(36 * MEGA + OtherMemory.GROWTH_BYTES, other.bytes());
    }

    @Test
    void bytes_growthOfManyModels_isIgnored() {
        own = BEFORE + 900 * MEGA;
        predict(1);
        assertEquals(OtherMemory.MOST_BYTES, other.bytes());
    }

    @Test
    void bytes_lateGrowth_isSeenInTheEnd() {
        predict(1000);
        own = BEFORE + 40 * MEGA;
        predict(64);
        assertEquals(40 * MEGA + OtherMemory.GROWTH_BYTES, other.bytes());
    }

    @Test
    void predicted_manyTimes_looksLessAndLessOften() {
        predict(OtherMemory.SETTLING);
        assertEquals(OtherMemory.SETTLING, looks);
        predict(60);
        assertEquals(OtherMemory.SETTLING + 4, looks);
        predict(640);
        assertEquals(OtherMemory.SETTLING + 14, looks);
    }
}
