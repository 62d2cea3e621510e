package org.djlplan.memplan.internal.runtime;

import java.time.Duration;

/** How long an arena that grows keeps memory that predictions do not use. */
public enum Keeping {

    /** Until a few dozen predictions did not use it. */
    LONG(32, Duration.ZERO, false),

    /**
     * Until the predictions of a second, a few at least, did not use it, or none ran for a moment:
     * then what the last one used is kept for another few seconds. For predictions that take much
     * longer than the page faults of using the memory again.
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

    /** Returns whether so many predictions in so much time are enough. */
    boolean isOver(int without, long sinceNanos) {
        return without >= predictions && sinceNanos >= nanos;
    }

    /** Returns whether memory is returned when no prediction has run for a moment. */
    boolean endsInPauses() {
        return endsInPauses;
    }
}
