package org.djlplan.delegation.profile;

import ai.djl.util.Progress;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/** The time and the inferences that are left, shown as progress. */
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
     * @param progress told the part that is spent
     */
    TimeBudget(LongSupplier clock, Optional<Duration> budget, Optional<Progress> progress) {
        this.clock = clock;
        this.startNanos = clock.getAsLong();
        this.grows = budget.isEmpty();
        this.budgetNanos = budget.orElse(ProfileSettings.BASE).toNanos();
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

    /** Learns how long an inference takes in the CPU kernels. */
    void inferenceTakes(double nanos) {
        if (grows) {
            budgetNanos =
                    ProfileSettings.BASE.toNanos() + Math.round(ProfileSettings.INFERENCES * nanos);
            grows = false;
        }
    }

    /** Limits the inferences, those included that were run already. */
    void allow(double most) {
        mostInferences = most;
    }

    /** Notes that some were run. */
    void ran(int count) {
        inferences += count;
    }

    /** Returns how many inferences were run. */
    int inferences() {
        return inferences;
    }

    /** Returns which part is spent, of time or of inferences; more than 1 if it is overdrawn. */
    double spent() {
        return Math.max((double) elapsedNanos() / budgetNanos, inferences / mostInferences);
    }

    /** Returns how many runs of some nanoseconds fit into a part of the budget. */
    double runs(double part, double nanosEach) {
        return part * budgetNanos / Math.max(1, nanosEach);
    }

    /** Shows how far it is, and ends what an interrupted thread does. */
    void step() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("profiling was cancelled");
        }
        // The last percent is that of the end.
        long percent = Math.min(PERCENT - 1, (long) (PERCENT * spent()));
        progress.ifPresent(p -> p.update(percent));
    }
}
