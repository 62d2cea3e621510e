package org.djlplan.memplan.internal.runtime.ort;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.djlplan.memplan.internal.report.PlanReportRecord;
import org.djlplan.memplan.internal.runtime.RunCounters;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;

class OrtTallyTest {

    private final OrtTally tally = new OrtTally();

    private void predict(long fitted, long bytes, long mostBytes, long reached) {
        long[] counters = new long[RunCounters.COUNT];
        counters[RunCounters.FITTED] = fitted;
        counters[RunCounters.OUTSIDE] = 2;
        counters[RunCounters.ALIVE] = 1;
        counters[RunCounters.MOST_BYTES] = mostBytes;
        counters[RunCounters.REACHED] = reached;
        tally.begun();
        tally.placed(counters, bytes);
    }

    @Test
    void plan_noPredictionWasPlaced_isNone() {
        tally.begun();
        assertSame(PlanReport.Plan.NONE, tally.plan());
        assertEquals(0, tally.reachedBytes());
    }

    @Test
    void plan_severalPredictions_isTheOneThatReachedFurthest() {
        predict(3, 500, 100, 128);
        predict(5, 900, 256, 256);
        predict(9, 700, 200, 256);
        predict(4, 600, 200, 200);
        assertEquals(256, tally.reachedBytes());
        assertEquals(
                new PlanReportRecord.Plan("first-fit", 5, 0, 900, 256, 256, true, 0), tally.plan());
    }

    @Test
    void predictions_countsEachAndSumsWhatWasNotPlaced() {
        tally.begun();
        predict(3, 500, 100, 128);
        predict(3, 500, 100, 128);
        assertEquals(new PlanReportRecord.Predictions(3, 3, 2, 4, 0, 2, 0), tally.predictions());
    }
}
