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

    private final Gate gate;

    /** How many predictions may run at once; they share interpreters, or a budget. */
    final int limit;

    /** The reason that is counted if a prediction waits because of the limit. */
    final PoolReport.Cause lack;

    // Guarded by the gate's lock.
    final Queue<Ticket<?>> waiting = new ArrayDeque<>();
    int running;

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
