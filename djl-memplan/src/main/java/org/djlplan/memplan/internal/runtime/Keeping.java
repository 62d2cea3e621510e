package org.djlplan.memplan.internal.runtime;

import java.time.Duration;

/**
 * How long an arena keeps memory that predictions do not use. If no prediction runs for half a
 * second, only the memory of the last one is kept, and after ten seconds nothing.
 */
public enum Keeping {

    /** Until 32 predictions in a row did not use it. */
    LONG(32, Duration.ZERO),

    /**
     * Until no prediction used it for a second, and for eight predictions. This suits models whose
     * page faults cost more than memory that is held for a moment.
     */
    SHORT(8, Duration.ofSeconds(1));

    private final int predictions;
    private final long nanos;

    Keeping(int predictions, Duration time) {
        this.predictions = predictions;
        nanos = time.toNanos();
    }

    /** Returns whether to return memory that so many predictions did not use for so long. */
    boolean isOver(int without, long sinceNanos) {
        return without >= predictions && sinceNanos >= nanos;
    }
}
