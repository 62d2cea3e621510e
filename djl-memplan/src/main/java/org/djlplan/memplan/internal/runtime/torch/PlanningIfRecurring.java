package org.djlplan.memplan.internal.runtime.torch;

import java.util.Optional;

/**
 * Offers the planning of one kind of inputs when such inputs recur soon or often. If input shapes
 * keep changing, most plans would never be used, and making them would take processor time, some of
 * it in Java's compilers, in a model's first seconds.
 */
final class PlanningIfRecurring implements AllocationSequence.Background {

    /** Inputs recur soon if at most this many predictions lie between. */
    private static final int SOON = 16;

    private final boolean isUrgent;

    private Optional<Analysis.Deferred> deferred = Optional.empty();
    private boolean recurs;
    private boolean closed;

    /** How many predictions the model had when the last one of this kind began without a plan. */
    private long lastUnplanned = Long.MIN_VALUE / 2;

    /** How many predictions of this kind began without a plan. */
    private int unplanned;

    /**
     * @param isUrgent whether planning begins as soon as such inputs recur, not a second later
     */
    PlanningIfRecurring(boolean isUrgent) {
        this.isUrgent = isUrgent;
    }

    @Override
    public synchronized boolean offer(Runnable work) {
        if (closed) {
            return false;
        }
        if (recurs) {
            return isUrgent ? Analysis.offerAtOnce(work) : Analysis.offer(work);
        }
        deferred = Optional.of(Analysis.defer(work, isUrgent));
        return true;
    }

    @Override
    public synchronized void unplanned(long predictions) {
        unplanned++;
        if (predictions - lastUnplanned <= SOON || unplanned >= Recurrence.OFTEN) {
            recurred();
        }
        lastUnplanned = predictions;
    }

    @Override
    public synchronized void recurred() {
        recurs = true;
        if (deferred.isPresent() && deferred.get().offer()) {
            deferred = Optional.empty();
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        deferred.ifPresent(Analysis.Deferred::drop);
        deferred = Optional.empty();
    }
}
