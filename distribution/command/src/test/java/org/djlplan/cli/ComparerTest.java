package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.cli.Comparer.Timed;
import org.junit.jupiter.api.Test;

class ComparerTest {

    private static final String CLEAR = "\r\u001b[K";

    private final StringWriter written = new StringWriter();
    private final List<String> turns = new ArrayList<>();
    private long seconds = 1000;

    /** Returns a process whose predictions take {@code secondsEach} seconds. */
    private Timed process(String name, int secondsEach) {
        return count -> {
            turns.add(name + " " + count);
            seconds += (long) count * secondsEach;
        };
    }

    private void time(int iterations, int rounds, Timed... all) {
        Comparer.time(
                iterations,
                rounds,
                List.of(all),
                Optional.of(
                        new ProgressLine.OnTerminal(
                                new PrintWriter(written), () -> seconds * 1_000_000_000L)));
    }

    @Test
    void time_severalRounds_alternatesAndPrintsRemainingTime() {
        time(4, 2, process("stock", 3), process("planned", 1));
        assertEquals(List.of("stock 2", "planned 2", "planned 2", "stock 2"), turns);
        assertEquals(
                CLEAR
                        + "Timing 0 %"
                        + CLEAR
                        + "Timing 25 % (about 18 s left)"
                        + CLEAR
                        + "Timing 50 % (about 8 s left)"
                        + CLEAR
                        + "Timing 75 % (about 3 s left)"
                        + CLEAR
                        + "Timing 100 %"
                        + CLEAR,
                written.toString());
    }

    @Test
    void time_fewerIterationsThanRounds_comesToItsEnd() {
        time(2, 4, process("only", 0));
        assertEquals(List.of("only 1", "only 1"), turns);
        assertEquals(
                CLEAR
                        + "Timing 0 %"
                        + CLEAR
                        + "Timing 25 %"
                        + CLEAR
                        + "Timing 50 %"
                        + CLEAR
                        + "Timing 75 %"
                        + CLEAR
                        + "Timing 100 %"
                        + CLEAR,
                written.toString());
    }

    @Test
    void time_oneFails_clearsTheLine() {
        Timed failing =
                count -> {
                    throw new Failure("it has crashed");
                };
        assertThrows(Failure.class, () -> time(1, 1, failing));
        assertEquals(CLEAR + "Timing 0 %" + CLEAR, written.toString());
    }
}
