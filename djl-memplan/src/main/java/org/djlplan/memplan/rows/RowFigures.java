package org.djlplan.memplan.rows;

/**
 * Counts of a {@link RowPredictor} so far, for the accumulators of a framework. Only djl-plan and
 * tests should construct them, because a later version may add counts.
 *
 * @param rows the number of predicted rows
 * @param batches the number of batches
 * @param paddedRows the number of rows that padded a last batch to the size of the others
 * @param tokens the number of tokens of rows that were grouped by length
 * @param paddedTokens the number of tokens that padded such rows to the longest of their batch
 * @param predictNanos the total duration of predictions, with pre- and post-processing, in
 *     nanoseconds
 */
public record RowFigures(
        long rows,
        long batches,
        long paddedRows,
        long tokens,
        long paddedTokens,
        long predictNanos) {}
