package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ProgressTest {

    /** A time as {@link System#nanoTime} returns it, which may be negative. */
    private static final long START = -50;

    private final Progress progress = new Progress(Duration.ofNanos(100));

    @Test
    void isStuck_noEndForThePatience_isTrue() {
        progress.restart(START);
        assertFalse(progress.isStuck(START + 99));
        assertTrue(progress.isStuck(START + 100));
    }

    @Test
    void isStuck_longPassesBefore_waitsTenTimesAsLong() {
        progress.restart(START);
        progress.end(START, START + 20);
        progress.end(START + 15, START + 30);
        assertFalse(progress.isStuck(START + 30 + 199));
        assertTrue(progress.isStuck(START + 30 + 200));
    }

    @Test
    void restart_afterAnEnd_waitsFromThenOn() {
        progress.restart(START);
        progress.end(START, START + 5);
        progress.restart(START + 500);
        assertFalse(progress.isStuck(START + 599));
        assertTrue(progress.isStuck(START + 600));
    }
}
