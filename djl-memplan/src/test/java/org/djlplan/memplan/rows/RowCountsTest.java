package org.djlplan.memplan.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class RowCountsTest {

    private final RowCounts counts = new RowCounts();

    @Test
    void figures_batchesOfBothKinds_areTheSums() {
        counts.addBatch(8, 0);
        counts.addNanos(100);
        counts.addBatch(3, 5);
        counts.addTokens(40, 2);
        counts.addNanos(20);
        RowFigures figures = counts.figures();
        assertEquals(11, figures.rows());
        assertEquals(2, figures.batches());
        assertEquals(5, figures.paddedRows());
        assertEquals(40, figures.tokens());
        assertEquals(2, figures.paddedTokens());
        assertEquals(120, figures.predictNanos());
    }

    @Test
    void figures_laterBatches_doNotChangeThem() {
        RowFigures before = counts.figures();
        counts.addBatch(1, 0);
        assertEquals(0, before.rows());
        assertEquals(1, counts.figures().rows());
    }

    /** The prediction's time counts even though it has no outputs. */
    @Test
    void addNanos_predictionThatFailed_isNoBatch() {
        counts.addNanos(7);
        assertEquals(7, counts.figures().predictNanos());
        assertEquals(0, counts.figures().batches());
    }
}
