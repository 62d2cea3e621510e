package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StepNewsTest {

    private final StringWriter written = new StringWriter();
    private final PrintWriter messages = new PrintWriter(written);
    private long seconds = 1000;

    private StepNews onTerminal(int steps) {
        return new StepNews(
                messages,
                steps,
                Optional.of(new ProgressLine.OnTerminal(messages, this::nanos)),
                this::nanos);
    }

    private long nanos() {
        return seconds * 1_000_000_000L;
    }

    @Test
    void next_onTerminal_printsRemainingTimeOnceKnown() {
        try (StepNews news = onTerminal(4)) {
            news.next("stock");
            seconds += 4;
            news.next("half");
            seconds += 8;
            news.next("quarter");
            seconds += 12;
            news.next("eighth");
        }
        assertEquals(
                "\r\u001b[Kstock 0 %\r\u001b[Khalf 25 %"
                        + "\r\u001b[Kquarter (about 12 s left) 50 %"
                        + "\r\u001b[Keighth (about 8 s left) 75 %\r\u001b[K",
                written.toString());
    }

    @Test
    void next_moreStepsThanExpected_printsNoTime() {
        try (StepNews news = onTerminal(1)) {
            news.next("stock");
            seconds += 60;
            news.next("another");
        }
        assertEquals("\r\u001b[Kstock 0 %\r\u001b[Kanother 100 %\r\u001b[K", written.toString());
    }

    @Test
    void next_noTerminal_writesLines() {
        try (StepNews news = new StepNews(messages, 2, Optional.empty(), this::nanos)) {
            news.next("stock");
            seconds += 60;
            news.next("half");
        }
        assertEquals(
                "stock" + System.lineSeparator() + "half" + System.lineSeparator(),
                written.toString());
    }
}
