package org.djlplan.memplan.internal.runtime.torch;

import java.util.Optional;

/**
 * Offers the planning of one kind of inputs when such inputs recur. If the shapes of inputs keep
 * changing, most plans would never be used, and making them would take processor time in a model's
 * first seconds, also for Java's compilers.
 */
final class PlanningIfRecurring implements AllocationSequence.Background {

    private final boolean isUrgent;

    private Optional<Analysis.Deferred> deferred = Optional.empty();
    private boolean recurs;
    private boolean closed;

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
