package org.djlplan.memplan.internal.runtime;

/**
 * A read-only view of this process's workers.
 *
 * @param busy number of forward passes that run, on workers or on their callers' threads
 * @param waiting number of forward passes that wait for a worker
 */
public record WorkersMetric(int busy, int waiting) {}
