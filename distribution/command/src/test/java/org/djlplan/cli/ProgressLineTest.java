package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ProgressLineTest {

    private final StringWriter terminal = new StringWriter();
    private final ProgressLine line = new ProgressLine(new PrintWriter(terminal));

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
