package org.djlplan.memplan.report;

/**
 * The resources that all planned models of a process share, at one moment.
 *
 * @param arenas for intermediate tensors
 * @param workspaces of delegate kernels
 * @param packedWeightsBytes weights that XNNPACK packed once for all interpreters of a model
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
     * @param count number of arenas
     * @param bytes their total size
     * @param inUse number of arenas that predictions use
     * @param overflows number of predictions that allocated memory of their own because all arenas
     *     were in use for too long
     */
    public record Arenas(int count, long bytes, int inUse, long overflows) {}

    /**
     * Workspaces of delegate kernels that lie on shared pages.
     *
     * @param count how many
     * @param separateBytes their size if each had its own pages
     * @param bytes their actual size
     */
    public record Workspaces(int count, long separateBytes, long bytes) {}

    /**
     * Forward passes that {@code memplan.workers} limits.
     *
     * @param busy number of running passes, on workers or on their callers' threads
     * @param waiting number of passes that wait for a worker
     */
    public record Workers(int busy, int waiting) {}

    /**
     * Waits of predictions for workers, interpreters, arenas, processors, or a place among {@code
     * memplan.maxPredictions}.
     *
     * @param count how many
     * @param nanos their total duration
     */
    public record Waits(long count, long nanos) {}
}
