package org.djlplan.memplan.rows;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what a {@link RowPredictor} has predicted so far. Its threads add to the counts without
 * waiting for each other, so while predictions run, one count may already include a batch that
 * another count does not.
 */
final class RowCounts {

    private final LongAdder rows = new LongAdder();
    private final LongAdder batches = new LongAdder();
    private final LongAdder paddedRows = new LongAdder();
    private final LongAdder tokens = new LongAdder();
    private final LongAdder paddedTokens = new LongAdder();
    private final LongAdder predictNanos = new LongAdder();

    /**
     * Counts a batch that was predicted.
     *
     * @param ofRows number of the user's rows in it
     * @param padding number of further rows, which made it as large as the other batches
     */
    void addBatch(int ofRows, int padding) {
        rows.add(ofRows);
        batches.increment();
        paddedRows.add(padding);
    }

    /**
     * Counts the tokens of a batch of rows of similar length.
     *
     * @param own the rows' tokens
     * @param padding the tokens that made each row as long as the longest
     */
    void addTokens(long own, long padding) {
        tokens.add(own);
        paddedTokens.add(padding);
    }

    /** Adds the duration of a prediction, whether it succeeded or not. */
    void addNanos(long nanos) {
        predictNanos.add(nanos);
    }

    /** Returns the current counts. */
    RowFigures figures() {
        return new RowFigures(
                rows.sum(),
                batches.sum(),
                paddedRows.sum(),
                tokens.sum(),
                paddedTokens.sum(),
                predictNanos.sum());
    }
}
