package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ProgressLineTest {

    private final StringWriter terminal = new StringWriter();
    private final ProgressLine line = new ProgressLine.OnTerminal(new PrintWriter(terminal));

    @Test
    void update_samePercent_isWrittenOnce() {
        line.reset("Profiling net", 100);
        line.start(0);
        line.update(7);
        line.update(7);
        line.increment(3);
        assertEquals(
                "\r"
                        + "\u001b[KProfiling net 0 %\r"
                        + "\u001b[KProfiling net 7 %\r"
                        + "\u001b[KProfiling net 10 %",
                terminal.toString());
    }

    @Test
    void update_afterSomeSeconds_printsRemainingTime() {
        long[] seconds = {100};
        ProgressLine timed =
                new ProgressLine.OnTerminal(
                        new PrintWriter(terminal), () -> seconds[0] * 1_000_000_000L);
        timed.reset("Profiling net", 100);
        timed.start(20);
        seconds[0] += 4;
        timed.update(30);
        seconds[0] += 4;
        timed.update(40);
        seconds[0] += 24;
        timed.update(100);
        assertEquals(
                "\r\u001b[KProfiling net 20 %\r\u001b[KProfiling net 30 %"
                        + "\r\u001b[KProfiling net 40 % (about 24 s left)"
                        + "\r\u001b[KProfiling net 100 %",
                terminal.toString());
    }

    @Test
    void reset_countsFromThenOn() {
        long[] seconds = {0};
        ProgressLine timed =
                new ProgressLine.OnTerminal(
                        new PrintWriter(terminal), () -> seconds[0] * 1_000_000_000L);
        timed.reset("One", 2);
        timed.start(0);
        seconds[0] = 60;
        timed.reset("Two", 4);
        timed.start(0);
        seconds[0] = 63;
        timed.update(1);
        assertEquals("\r\u001b[KOne 0 %\r\u001b[KTwo 0 %\r\u001b[KTwo 25 %", terminal.toString());
    }

    @Test
    void end_shownLine_isCleared() {
        line.reset("Measuring", 8);
        line.update(4);
        line.end();
        line.end();
        assertEquals("\r\u001b[KMeasuring 50 %\r\u001b[K", terminal.toString());
    }

    @Test
    void end_nothingShown_writesNothing() {
        line.end();
        assertEquals("", terminal.toString());
    }
}
