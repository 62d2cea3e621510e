package org.djlplan.memplan.rows;

/**
 * What a {@link RowPredictor} has done until now, for the accumulators of a framework.
 *
 * @param rows that were predicted
 * @param batches in which they were
 * @param paddedRows that were predicted in vain, so that a last batch had the size of the others
 * @param tokens of rows that were grouped by length
 * @param paddedTokens that were predicted in vain, so that those rows were as long as the longest
 *     of their batch
 * @param predictNanos how long predictions took together, with pre- and post-processing
 */
public record RowFigures(
        long rows,
        long batches,
        long paddedRows,
        long tokens,
        long paddedTokens,
        long predictNanos) {}
