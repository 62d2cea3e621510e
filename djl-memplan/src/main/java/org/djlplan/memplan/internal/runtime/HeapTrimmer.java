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

    /** A look at least so often ends soon after the last prediction; it retains a class loader. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    private static final long MUCH = 16L << 20;

    private static final HeapTrimmer PROCESS = new HeapTrimmer();

    /** Whether the next look is on its way. */
    private final AtomicBoolean pending = new AtomicBoolean();

    private final ProcessMemory memory = new ProcessMemory();
    private volatile Duration interval = SHORTEST;
    private long trimmedNanos = System.nanoTime();
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
        Later.run(min(interval, LOOK), this::look);
    }

    private void look() {
        boolean busy = active;
        active = false;
        try {
            if (!busy || System.nanoTime() - trimmedNanos >= interval.toNanos()) {
                trimAndLearn();
            }
        } finally {
            if (busy) {
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
        trimmedNanos = System.nanoTime();
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
