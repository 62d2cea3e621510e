package org.djlplan.delegation.internal.profile;

import ai.djl.util.Progress;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.djlplan.delegation.internal.choice.Request;

/** The remaining time and inferences, shown as progress. */
final class TimeBudget {

    private static final int PERCENT = 100;

    private final LongSupplier clock;
    private final long startNanos;
    private boolean grows;
    private long budgetNanos;
    private final Optional<Progress> progress;
    private int inferences;
    private double mostInferences = Double.POSITIVE_INFINITY;

    /**
     * @param clock nanoseconds
     * @param budget from now on; empty if it depends on the model
     * @param progress receives the spent part
     */
    TimeBudget(LongSupplier clock, Optional<Duration> budget, Optional<Progress> progress) {
        this.clock = clock;
        this.startNanos = clock.getAsLong();
        this.grows = budget.isEmpty();
        this.budgetNanos = budget.orElse(Request.BASE).toNanos();
        this.progress = progress;
    }

    void begin(String message) {
        progress.ifPresent(
                p -> {
                    p.reset(message, PERCENT);
                    p.start(0);
                });
    }

    void end() {
        progress.ifPresent(Progress::end);
    }

    /** Returns the nanoseconds since the beginning. */
    long elapsedNanos() {
        return clock.getAsLong() - startNanos;
    }

    /** Sets the time of an inference in the CPU kernels. */
    void inferenceTakes(double nanos) {
        if (grows) {
            budgetNanos = Request.BASE.toNanos() + Math.round(Request.INFERENCES * nanos);
            grows = false;
        }
    }

    /** Limits the number of inferences, including those that were already run. */
    void allow(double most) {
        mostInferences = most;
    }

    /** Adds a number of inferences. */
    void ran(int count) {
        inferences += count;
    }

    /** Returns the number of inferences so far. */
    int inferences() {
        return inferences;
    }

    /**
     * Returns the spent fraction of time or inferences, whichever is larger; more than 1 if it is
     * exceeded.
     */
    double spent() {
        return Math.max((double) elapsedNanos() / budgetNanos, inferences / mostInferences);
    }

    /** Returns how many runs of a duration fit into a fraction of the budget. */
    double runs(double part, double nanosEach) {
        return part * budgetNanos / Math.max(1, nanosEach);
    }

    /** Updates the progress, and throws if the thread is interrupted. */
    void step() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("profiling was cancelled");
        }
        // The last percent is reserved for the end.
        long percent = Math.min(PERCENT - 1, (long) (PERCENT * spent()));
        progress.ifPresent(p -> p.update(percent));
    }
}
