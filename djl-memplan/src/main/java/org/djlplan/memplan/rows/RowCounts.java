package org.djlplan.memplan.rows;

import java.util.concurrent.atomic.LongAdder;

/**
 * What a {@link RowPredictor} has predicted so far. Its threads add to the counts at once without
 * waiting for each other; so while predictions run, one count may be ahead of another.
 */
final class RowCounts {

    private final LongAdder rows = new LongAdder();
    private final LongAdder batches = new LongAdder();
    private final LongAdder paddedRows = new LongAdder();
    private final LongAdder tokens = new LongAdder();
    private final LongAdder paddedTokens = new LongAdder();
    private final LongAdder predictNanos = new LongAdder();

    private record Figures(
            long rows,
            long batches,
            long paddedRows,
            long tokens,
            long paddedTokens,
            long predictNanos)
            implements RowFigures {}

    /**
     * Counts a batch whose outputs are there.
     *
     * @param ofRows how many rows of the user it has
     * @param padding how many further rows made it as large as the others
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
     * @param padding those that made each row as long as the longest
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
        return new Figures(
                rows.sum(),
                batches.sum(),
                paddedRows.sum(),
                tokens.sum(),
                paddedTokens.sum(),
                predictNanos.sum());
    }
}
