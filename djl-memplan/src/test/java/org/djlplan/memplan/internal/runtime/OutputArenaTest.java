package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Tests the arena for outputs without native memory. */
class OutputArenaTest {

    private static final long LARGE = 64L << 20;
    private static final long SMALL = 1L << 20;
    private static final int PREDICTIONS = 100;

    private final FakeArenas memory = new FakeArenas();
    private final OutputArena outputs = new OutputArena(memory);

    @Test
    void use_twoModels_shareOneArenaUntilBothAreClosed() {
        OutputArena.Use first = outputs.use();
        OutputArena.Use second = outputs.use();
        assertEquals(first.address(), second.address());
        first.close();
        first.close();
        assertEquals(1, memory.liveCount());
        second.close();
        assertEquals(0, memory.liveCount());
        assertEquals(0, outputs.bytes());
        try (OutputArena.Use later = outputs.use()) {
            assertNotEquals(first.address(), later.address());
        }
    }

    @Test
    void note_oneLargeOutput_itsMemoryIsGivenBackLater() throws Exception {
        try (OutputArena.Use use = outputs.use()) {
            use.note(LARGE);
            assertTrue(outputs.bytes() >= LARGE);
            for (int i = 0; i < PREDICTIONS; i++) {
                use.note(SMALL);
            }
            Instant end = Instant.now().plus(Duration.ofSeconds(20));
            while (memory.trims().isEmpty() && Instant.now().isBefore(end)) {
                Thread.sleep(1);
            }
            assertEquals(1, memory.trims().size());
            assertEquals(Arena.roundedBytes(SMALL), outputs.bytes());
        }
    }

    @Test
    void note_afterClosing_doesNothing() {
        OutputArena.Use use = outputs.use();
        use.close();
        use.note(LARGE);
        assertEquals(0, outputs.bytes());
        assertEquals(0, memory.liveCount());
    }
}
