package org.djlplan.memplan.internal.runtime;

import java.time.Duration;

/** How long an arena that grows keeps memory that predictions do not use. */
public enum Keeping {

    /** Until 32 predictions in a row did not use it. */
    LONG(32, Duration.ZERO, false),

    /**
     * Until no prediction used it for a second, and for eight predictions. If no prediction runs
     * for half a second, only the memory of the last one is kept, and after ten seconds nothing.
     * This suits models whose page faults cost more than memory that is held for a moment.
     */
    SHORT(8, Duration.ofSeconds(1), true);

    private final int predictions;
    private final long nanos;
    private final boolean endsInPauses;

    Keeping(int predictions, Duration time, boolean endsInPauses) {
        this.predictions = predictions;
        nanos = time.toNanos();
        this.endsInPauses = endsInPauses;
    }

    /** Returns whether to return memory that so many predictions did not use for so long. */
    boolean isOver(int without, long sinceNanos) {
        return without >= predictions && sinceNanos >= nanos;
    }

    /** Returns whether memory is returned when no prediction has run for a moment. */
    boolean endsInPauses() {
        return endsInPauses;
    }
}
