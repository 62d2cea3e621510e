package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NeededMemoryTest {

    private final NeededMemory needed = new NeededMemory();

    private void note(int times, long elements, long bytes) {
        for (int i = 0; i < times; i++) {
            needed.note(InputSizes.of(new long[] {elements}), bytes);
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
    void above_largerInputsThanAboveTheLimit_areKnownByTheSmallestOfThem() {
        needed.setLimit(100);
        needed.note(InputSizes.of(new long[] {4, 8}), 100);
        assertEquals(Optional.empty(), needed.above(InputSizes.of(new long[] {9, 9})));
        needed.note(InputSizes.of(new long[] {4, 9}), 300);
        needed.note(InputSizes.of(new long[] {4, 7}), 200);
        for (long[] shape : new long[][] {{4, 7}, {4, 9}, {90, 90}}) {
            assertEquals(200, needed.above(InputSizes.of(shape)).orElseThrow().bytes());
        }
        assertEquals(Optional.empty(), needed.above(InputSizes.of(new long[] {3, 1000})));
        assertEquals(Optional.empty(), needed.above(InputSizes.of(new long[] {1000})));
        assertEquals(Optional.empty(), needed.above(InputSizes.UNKNOWN));
    }

    @Test
    void peak_severalPredictions_isTheLargest() {
        assertEquals(Optional.empty(), needed.peak());
        needed.note(InputSizes.of(new long[] {4, 8}), 100);
        needed.note(InputSizes.of(new long[] {2, 3}, new long[] {5}), 300);
        needed.note(InputSizes.UNKNOWN, 200);
        assertEquals(300, needed.peak().orElseThrow().predictionBytes());
        assertEquals(
                List.of(List.of(2L, 3L), List.of(5L)), needed.peak().orElseThrow().inputShapes());
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
