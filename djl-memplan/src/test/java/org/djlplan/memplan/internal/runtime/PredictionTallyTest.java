package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.djlplan.memplan.internal.report.PlanReportRecord;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;

class PredictionTallyTest {

    private final PredictionTally tally = new PredictionTally();

    private static long[] counters(long fitted, long bytes, long mostBytes, long reached) {
        long[] counters = new long[RunCounters.COUNT];
        counters[RunCounters.FITTED] = fitted;
        counters[RunCounters.OUTSIDE] = 2;
        counters[RunCounters.ALIVE] = 1;
        counters[RunCounters.BYTES] = bytes;
        counters[RunCounters.MOST_BYTES] = mostBytes;
        counters[RunCounters.REACHED] = reached;
        return counters;
    }

    private void predict(long fitted, long bytes, long mostBytes, long reached) {
        tally.online(InputSizes.UNKNOWN, counters(fitted, bytes, mostBytes, reached));
    }

    @Test
    void plan_noPredictionHadAnArena_isNone() {
        tally.outsideArenas();
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
    void plan_replanned_isThatOfLaterPredictions() {
        predict(5, 900, 256, 384);
        tally.replan();
        tally.planned("greedy-by-size", InputSizes.UNKNOWN, counters(5, 900, 256, 256));
        assertEquals("greedy-by-size", tally.plan().strategy());
        assertEquals(256, tally.plan().arenaBytes());
    }

    @Test
    void predictions_countsEachAndSumsWhatWasNotPlaced() {
        tally.outsideArenas();
        predict(3, 500, 100, 128);
        predict(3, 500, 100, 128);
        tally.planned("best", InputSizes.UNKNOWN, counters(3, 500, 100, 128));
        tally.oneOff();
        tally.recorded();
        assertEquals(new PlanReportRecord.Predictions(5, 1, 3, 6, 1, 3), tally.predictions());
    }
}
