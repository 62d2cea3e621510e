package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SearchNewsTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final StringWriter terminal = new StringWriter();
    private final ProgressLine line =
            new ProgressLine.OnTerminal(new PrintWriter(terminal), () -> 0);

    @Test
    void tell_partOfTheTime_printsRemainingTime() {
        SearchNews.tell(line, Duration.ofMillis(2500), LIMIT);
        SearchNews.tell(line, Duration.ofSeconds(11), LIMIT);
        assertEquals(
                "\r\u001b[KSearching for a smaller plan, 7 s more at most 25 %"
                        + "\r\u001b[KSearching for a smaller plan, 0 s more at most 100 %",
                terminal.toString());
    }

    @Test
    void start_noTerminalOrTimeLimit_printsNothing() {
        assertTrue(SearchNews.start(Optional.empty(), Optional.of(LIMIT)).isEmpty());
        assertTrue(SearchNews.start(Optional.of(line), Optional.empty()).isEmpty());
    }

    @Test
    void close_atOnce_hasWrittenNothing() {
        SearchNews.start(Optional.of(line), Optional.of(LIMIT)).orElseThrow().close();
        assertEquals("", terminal.toString());
    }
}
