package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.measure.UndisturbedTiming.Timing;
import org.djlplan.thirdparty.guava.collect.Lists;
import org.junit.jupiter.api.Test;

class UndisturbedTimingTest {

    private final List<Long> pausesMillis = new ArrayList<>();
    private final UndisturbedTiming turns =
            new UndisturbedTiming(nanos -> pausesMillis.add(nanos / 1_000_000));
    private final Deque<Timing> timings = new ArrayDeque<>();
    private int runs;

    private Timing next() {
        runs++;
        return timings.size() > 1 ? timings.remove() : timings.element();
    }

    @Test
    void time_undisturbed_isTakenAtOnce() throws Exception {
        timings.add(new Timing(new long[] {7, 8}, 0.96));
        assertArrayEquals(new long[] {7, 8}, turns.time(this::next));
        assertEquals(1, runs);
        assertEquals(List.of(), pausesMillis);
        assertEquals(Optional.empty(), turns.caveat());
    }

    @Test
    void time_disturbedOnce_isRepeated() throws Exception {
        timings.add(new Timing(new long[] {70}, 0.5));
        timings.add(new Timing(new long[] {7}, 1));
        assertArrayEquals(new long[] {7}, turns.time(this::next));
        assertEquals(2, runs);
        assertEquals(List.of(300L), pausesMillis);
        assertEquals(Optional.empty(), turns.caveat());
    }

    @Test
    void time_alwaysDisturbed_takesTheLeastDisturbedWithoutItsWaiting() throws Exception {
        for (Timing timing :
                List.of(
                        new Timing(new long[] {100, 200}, 0.5),
                        new Timing(new long[] {100, 1}, 0.8),
                        new Timing(new long[] {100, 200}, 0.25))) {
            timings.add(timing);
        }
        assertArrayEquals(new long[] {80, 1}, turns.time(this::next));
        assertEquals(3, runs);
        assertEquals(List.of(300L, 600L), pausesMillis);
        assertEquals(
                Optional.of("measured beside other work, which disturbed 1 of 1 turns"),
                turns.caveat());
    }

    @Test
    void time_disturbedAgainAndAgain_isNotRepeatedAnyMore() throws Exception {
        timings.add(new Timing(new long[] {10}, 0.5));
        for (int i = 0; i < 5; i++) {
            turns.time(this::next);
        }
        assertEquals(15, runs);
        assertEquals(Collections.nCopies(5, List.of(300L, 600L)), Lists.partition(pausesMillis, 2));
        turns.time(this::next);
        assertEquals(16, runs);
        assertEquals(10, pausesMillis.size());
    }

    @Test
    void timing_noUndelayedPart_isRejected() {
        for (double part : new double[] {0, -0.1, 1.1, Double.NaN}) {
            assertThrows(IllegalArgumentException.class, () -> new Timing(new long[] {1}, part));
        }
    }
}
