package org.djlplan.memplan.rows;

/**
 * Counts of a {@link RowPredictor} so far, for the accumulators of a framework.
 *
 * @param rows number of predicted rows
 * @param batches number of batches
 * @param paddedRows number of rows that padded a last batch to the size of the others
 * @param tokens number of tokens of rows that were grouped by length
 * @param paddedTokens number of tokens that padded such rows to the longest of their batch
 * @param predictNanos total duration of predictions, with pre- and post-processing
 */
public record RowFigures(
        long rows,
        long batches,
        long paddedRows,
        long tokens,
        long paddedTokens,
        long predictNanos) {}
