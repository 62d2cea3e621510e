package org.djlplan.memplan.runtime;

/**
 * A read-only view of this process's workers.
 *
 * @param busy forward passes that run, on workers or in place
 * @param waiting forward passes that wait for a worker
 */
public record WorkersMetric(int busy, int waiting) {}
