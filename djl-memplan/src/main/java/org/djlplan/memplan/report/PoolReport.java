package org.djlplan.memplan.report;

import java.util.Map;
import org.djlplan.thirdparty.guava.collect.Maps;

/**
 * The resources that all planned models of a process share, at one moment.
 *
 * @param arenas the arenas for intermediate tensors
 * @param workspaces the workspaces of delegate kernels
 * @param packedWeightsBytes the bytes of weights that XNNPACK packed once for all interpreters of a
 *     model
 * @param workers the workers that run forward passes
 * @param waitsByCause the waits of predictions since the start
 */
public record PoolReport(
        Arenas arenas,
        Workspaces workspaces,
        long packedWeightsBytes,
        Workers workers,
        Map<Cause, Waits> waitsByCause) {

    public PoolReport {
        waitsByCause = Maps.immutableEnumMap(waitsByCause);
    }

    /** Returns all waits of predictions, since the start. */
    public Waits waits() {
        return new Waits(
                waitsByCause.values().stream().mapToLong(Waits::count).sum(),
                waitsByCause.values().stream().mapToLong(Waits::nanos).sum());
    }

    /**
     * Returns the waits with a cause, since the start.
     *
     * @since 0.3
     */
    public Waits waits(Cause cause) {
        return waitsByCause.getOrDefault(cause, new Waits(0, 0));
    }

    /**
     * The resource for which a prediction waited. A later version may add causes.
     *
     * @since 0.3
     */
    public enum Cause {
        /** Threads of {@code memplan.workers}. */
        WORKERS,
        /** Interpreters of a model. */
        INTERPRETERS,
        /** The arena of a model with a budget: one prediction at a time. */
        ARENAS,
        /** Processors, for a multi-threaded prediction. */
        PROCESSORS,
        /** Places of {@code memplan.maxPredictions}. */
        PREDICTIONS
    }

    /**
     * Arenas that models share.
     *
     * @param count the number of arenas
     * @param bytes their total size
     * @param inUse the number of arenas that predictions use
     */
    public record Arenas(int count, long bytes, int inUse) {}

    /**
     * Workspaces of delegate kernels that lie on shared pages.
     *
     * @param count the number of workspaces
     * @param separateBytes their size if each had its own pages
     * @param bytes their actual size
     */
    public record Workspaces(int count, long separateBytes, long bytes) {}

    /**
     * Forward passes that {@code memplan.workers} limits.
     *
     * @param busy the number of running passes, on workers or on their callers' threads
     * @param waiting the number of passes that wait for a worker
     */
    public record Workers(int busy, int waiting) {}

    /**
     * Waits of predictions for a resource that others use.
     *
     * @param count the number of waits
     * @param nanos their total duration in nanoseconds
     */
    public record Waits(long count, long nanos) {}
}
