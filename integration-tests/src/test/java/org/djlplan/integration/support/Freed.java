package org.djlplan.integration.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.runtime.MappedFile;

/** That closed models leave nothing. */
public final class Freed {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private Freed() {}

    /**
     * Fails unless all models' memory is freed, at once or, where an interpreter was just being
     * built in the background when its model was closed, soon after.
     */
    public static void assertEverything() {
        long start = System.nanoTime();
        while (used() && System.nanoTime() - start < PATIENCE_NANOS) {
            Thread.onSpinWait();
        }
        assertEquals(0, MappedFile.openCount());
        assertEquals(0, ArenaPool.shared().metric().arenaBytes());
    }

    private static boolean used() {
        return MappedFile.openCount() > 0 || ArenaPool.shared().metric().arenaBytes() > 0;
    }
}
