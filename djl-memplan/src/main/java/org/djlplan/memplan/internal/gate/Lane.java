package org.djlplan.memplan.internal.gate;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Supplier;
import org.djlplan.memplan.report.PoolReport;

/** The predictions of one model at the {@link Gate}, which wait in order of arrival. */
public final class Lane {

    /** The limit of a model whose predictions share nothing. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    /** The number of predictions is averaged over about this time. */
    private static final double WINDOW_NANOS = 1e9;

    private final Gate gate;

    /** How many predictions may run at once; they share interpreters, or a budget. */
    final int limit;

    /** The reason that is counted if a prediction waits because of the limit. */
    final PoolReport.Cause lack;

    // Guarded by the gate's lock.
    final Queue<Ticket<?>> waiting = new ArrayDeque<>();
    int running;
    private double average;
    private long countedNanos = System.nanoTime();
    private boolean calm = true;

    Lane(Gate gate, int limit, PoolReport.Cause lack) {
        checkArgument(limit > 0, "a limit of %s", limit);
        this.gate = gate;
        this.limit = limit;
        this.lack = lack;
    }

    /** Returns whether the limit lets another prediction begin. */
    boolean hasRoom() {
        return running < limit;
    }

    /** Returns whether, on average, at most one prediction ran lately. */
    boolean isCalm() {
        return calm;
    }

    /**
     * Adds the time since the last call to the average; to be called before each change of the
     * numbers. Predictions that wait while the model is calm count, too; others do not, so that a
     * model is soon calm after a burst.
     */
    void countUntil(long now) {
        double weight = Math.exp((countedNanos - now) / WINDOW_NANOS);
        int present = running + (calm ? waiting.size() : 0);
        average = weight * average + (1 - weight) * present;
        countedNanos = now;
        calm = average <= 1;
    }

    /** Runs a prediction that does not depend on its thread. */
    public <T> T run(Places places, long expectedBytes, Supplier<T> prediction) {
        return run(places, expectedBytes, prediction, () -> prediction);
    }

    /**
     * Runs a prediction as soon as the gate lets it pass. Uninterruptible; the thread's interrupt
     * status is restored.
     *
     * @param places the places of which it takes one if it is large
     * @param expectedBytes the memory that the prediction is expected to need; {@link
     *     Long#MAX_VALUE} if it is unknown
     * @param here runs it on this thread
     * @param handOver called on this thread if the prediction cannot begin at once; returns the
     *     code that runs it on a worker
     * @return the prediction's result
     * @throws RuntimeException the prediction's exception, with this thread's stack below the
     *     worker's; errors likewise
     */
    public <T> T run(
            Places places, long expectedBytes, Supplier<T> here, Supplier<Supplier<T>> handOver) {
        return gate.run(this, places, expectedBytes, here, handOver);
    }
}
