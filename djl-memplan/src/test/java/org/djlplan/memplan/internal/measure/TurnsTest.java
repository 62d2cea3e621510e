package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.measure.Turns.Timing;
import org.junit.jupiter.api.Test;

class TurnsTest {

    private final Turns turns = new Turns();
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
        assertEquals(Optional.empty(), turns.caveat());
    }

    @Test
    void time_disturbedOnce_isRepeated() throws Exception {
        timings.add(new Timing(new long[] {70}, 0.5));
        timings.add(new Timing(new long[] {7}, 1));
        assertArrayEquals(new long[] {7}, turns.time(this::next));
        assertEquals(2, runs);
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
        turns.time(this::next);
        assertEquals(16, runs);
    }
}
