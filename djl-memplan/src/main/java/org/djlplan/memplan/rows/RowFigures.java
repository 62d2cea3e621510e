package org.djlplan.memplan.rows;

/**
 * What a {@link RowPredictor} has done until now, for the accumulators of a framework.
 *
 * @param rows that were predicted
 * @param batches in which they were
 * @param paddedRows that were predicted in vain, so that a last batch had the size of the others
 * @param predictNanos how long predictions took together, with pre- and post-processing
 */
public record RowFigures(long rows, long batches, long paddedRows, long predictNanos) {}
