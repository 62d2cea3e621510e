package org.djlplan.memplan.rows;

/**
 * Counts of a {@link RowPredictor} so far, for the accumulators of a framework. Only djl-plan and
 * tests should implement it, because a later version may add counts.
 */
public interface RowFigures {

    /** Returns the number of predicted rows. */
    long rows();

    /** Returns the number of batches. */
    long batches();

    /** Returns the number of rows that padded a last batch to the size of the others. */
    long paddedRows();

    /** Returns the number of tokens of rows that were grouped by length. */
    long tokens();

    /** Returns the number of tokens that padded such rows to the longest of their batch. */
    long paddedTokens();

    /** Returns the total duration of predictions, with pre- and post-processing, in nanoseconds. */
    long predictNanos();
}
