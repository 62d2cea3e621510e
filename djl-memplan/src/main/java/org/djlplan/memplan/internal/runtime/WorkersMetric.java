package org.djlplan.memplan.internal.runtime;

/**
 * A read-only view of this process's workers.
 *
 * @param busy running forward passes, on workers or on their callers' threads
 * @param waiting forward passes that wait for a worker
 */
public record WorkersMetric(int busy, int waiting) {}
