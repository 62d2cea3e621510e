package org.djlplan.memplan.internal.runtime;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.internal.thread.Later;

/**
 * Returns freed memory of the C library to the system while many threads predict. The library
 * itself returns little, because it keeps a heap per thread, and a heap shrinks only from its end.
 * The trimmer runs in the background, more often if it returns much, and stops when there are no
 * predictions.
 */
public final class HeapTrimmer {

    private static final Duration SHORTEST = Duration.ofMillis(500);
    private static final Duration LONGEST = Duration.ofSeconds(32);
    private static final long MUCH = 16L << 20;

    private static final HeapTrimmer PROCESS = new HeapTrimmer();

    /** Whether the next trim is on its way. */
    private final AtomicBoolean pending = new AtomicBoolean();

    private final ProcessMemory memory = new ProcessMemory();
    private volatile Duration interval = SHORTEST;
    private volatile boolean active;

    private HeapTrimmer() {}

    /** Reports the end of a prediction on one of many threads. Takes almost no time. */
    public static void touch() {
        PROCESS.active = true;
        if (!PROCESS.pending.get() && PROCESS.pending.compareAndSet(false, true)) {
            PROCESS.schedule();
        }
    }

    private void schedule() {
        if (!Later.run(interval, this::trim)) {
            pending.set(false);
        }
    }

    private void trim() {
        active = false;
        try {
            trimAndLearn();
        } finally {
            if (active) {
                schedule();
            } else {
                pending.set(false);
            }
        }
    }

    private void trimAndLearn() {
        OptionalLong before = memory.anonymousBytes();
        ProcessMemory.trim();
        OptionalLong after = memory.anonymousBytes();
        boolean much =
                before.isPresent()
                        && after.isPresent()
                        && before.getAsLong() - after.getAsLong() >= MUCH;
        interval = much ? SHORTEST : min(interval.multipliedBy(2), LONGEST);
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
