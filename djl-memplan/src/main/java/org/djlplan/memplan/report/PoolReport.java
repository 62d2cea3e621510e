package org.djlplan.memplan.report;

/**
 * What all planned models of a process share, at one moment.
 *
 * @param arenas for intermediate tensors
 * @param workspaces of delegate kernels
 * @param packedWeightsBytes what weights take that XNNPACK packed once for all interpreters of a
 *     model
 * @param workers that run forward passes
 * @param waits of predictions, since the start
 */
public record PoolReport(
        Arenas arenas,
        Workspaces workspaces,
        long packedWeightsBytes,
        Workers workers,
        Waits waits) {

    /**
     * Arenas that models share.
     *
     * @param count how many exist
     * @param bytes their size together
     * @param inUse how many of them a prediction uses
     * @param overflows how often all were in use for too long, and a prediction got memory of its
     *     own
     */
    public record Arenas(int count, long bytes, int inUse, long overflows) {}

    /**
     * Workspaces of delegate kernels that lie on shared pages.
     *
     * @param count how many
     * @param separateBytes what they would take, each with pages of its own
     * @param bytes what they take
     */
    public record Workspaces(int count, long separateBytes, long bytes) {}

    /**
     * Forward passes on {@code memplan.workers}.
     *
     * @param busy how many run, on workers or on their callers' threads
     * @param waiting how many wait for a worker
     */
    public record Workers(int busy, int waiting) {}

    /**
     * Waits of predictions for workers, interpreters, arenas, processors, or a place among {@code
     * memplan.maxPredictions}.
     *
     * @param count how many
     * @param nanos how long they were together
     */
    public record Waits(long count, long nanos) {}
}
