package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PlanningCostTest {

    /** The time of the clock. */
    private long nanos;

    private final PlanningCost cost = new PlanningCost(() -> nanos);

    private int time(long planningNanos) {
        int[] times = new int[1];
        assertTrue(cost.beginTiming());
        cost.time(
                () -> {
                    times[0]++;
                    nanos += planningNanos;
                    return true;
                });
        return times[0];
    }

    @Test
    void isKnown_bothAreTimed() {
        assertFalse(cost.isKnown());
        time(1);
        assertFalse(cost.isKnown());
        cost.predicted(100, 100);
        assertTrue(cost.isKnown());
    }

    @Test
    void beginTiming_once_untilAbandoned() {
        assertTrue(cost.beginTiming());
        assertFalse(cost.beginTiming());
        cost.abandonTiming();
        time(1);
        assertFalse(cost.beginTiming(), "it is known");
    }

    @Test
    void time_slowPlanning_isTimedLessOften() {
        assertEquals(63, time(1));
        PlanningCost slow = new PlanningCost(() -> nanos);
        int[] times = new int[1];
        slow.time(
                () -> {
                    times[0]++;
                    nanos += 10_000_000;
                    return true;
                });
        assertEquals(15, times[0]);
    }

    @Test
    void time_verySlowPlanning_isTimedOnce() {
        assertEquals(1, time(60_000_000_000L));
        cost.predicted(60_000_000_000L * PlanningCost.MOST_COST, 1);
        assertTrue(cost.pays(1, 1));
        cost.predicted(60_000_000_000L, 1);
        assertFalse(cost.pays(1, 1));
    }

    @Test
    void time_firstTimesAreSlow_theMedianCounts() {
        int[] times = new int[1];
        cost.time(
                () -> {
                    nanos += times[0]++ < 10 ? 100_000 : 10;
                    return true;
                });
        cost.predicted(10 * PlanningCost.MOST_COST, 1);
        assertTrue(cost.pays(1, 1));
    }

    @Test
    void pays_dependsOnTheFastestPrediction() {
        time(10);
        cost.predicted(5000, 1000);
        assertTrue(cost.pays(100, 1));
        assertFalse(cost.pays(99, 1));
        cost.predicted(2500, 1000);
        assertFalse(cost.pays(100, 1));
        assertTrue(cost.pays(200, 1));
        cost.predicted(5000, 1000);
        assertFalse(cost.pays(100, 1));
    }

    @Test
    void isTooSmall_didNotPayForAsMany_untilItIsTimedAgain() {
        time(1000);
        cost.predicted(1, 1);
        assertFalse(cost.isTooSmall(7));
        assertFalse(cost.pays(1, 7));
        assertFalse(cost.isTooSmall(8));
        for (int i = 0; i < PlanningCost.TIMED_AGAIN; i++) {
            assertFalse(cost.beginTiming());
            assertTrue(cost.isTooSmall(7));
        }
        assertFalse(cost.isKnown());
        assertFalse(cost.isTooSmall(7));
        assertTrue(cost.beginTiming());
    }
}
