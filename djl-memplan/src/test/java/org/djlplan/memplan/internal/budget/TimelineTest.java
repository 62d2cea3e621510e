package org.djlplan.memplan.internal.budget;

import static org.djlplan.memplan.internal.budget.StreamingProblems.PAGE;
import static org.djlplan.memplan.internal.budget.StreamingProblems.activations;
import static org.djlplan.memplan.internal.budget.StreamingProblems.costs;
import static org.djlplan.memplan.internal.budget.StreamingProblems.uses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.budget.StreamingPlan.Load;
import org.junit.jupiter.api.Test;

class TimelineTest {

    /** Steps of 15, 5 and 5 ns; a page (10 ns) for step 0, two (20 ns) for 1, one for 2. */
    private static final StreamingProblem PROBLEM =
            new StreamingProblem(
                    activations(0, 1, 4096), uses(0, 0, 1, 1, 1, 2, 2, 2, 1), costs(15, 5, 5));

    private static Timeline timeline(Load... loads) {
        return Timeline.of(
                new StreamingPlan("test", PROBLEM, Map.of(0, 0L), List.of(loads), 8 * PAGE));
    }

    private static Load load(int use, int after) {
        return new Load(use, 0, after, false);
    }

    @Test
    void of_loadsThatWaitForNothing_followOneAnother() {
        Timeline timeline = timeline(load(0, 0), load(1, 0), load(2, 0));
        // Loads end at 10, 30 and 40.
        assertEquals(10, timeline.beginNanos(0));
        assertEquals(30, timeline.beginNanos(1));
        assertEquals(40, timeline.beginNanos(2));
        assertEquals(45, timeline.nanos());
        assertEquals(10, timeline.stallNanos(0));
        assertEquals(5, timeline.stallNanos(1));
        assertEquals(5, timeline.stallNanos(2));
        assertEquals(20, timeline.stallNanos());
        assertEquals(4 * PAGE, timeline.loadedBytes());
    }

    @Test
    void of_loadThatWaitsForAStep_beginsWhenItHasFinished() {
        Timeline timeline = timeline(load(0, 0), load(1, 1), load(2, 0));
        // Step 0 ends at 25, the second load at 45, the third at 55.
        assertEquals(45, timeline.beginNanos(1));
        assertEquals(55, timeline.beginNanos(2));
        assertEquals(60, timeline.nanos());
    }

    @Test
    void of_pinned_isThereAndNotLoaded() {
        Timeline timeline = timeline(new Load(1, 0, 0, true), load(0, 0), load(2, 0));
        assertEquals(25, timeline.beginNanos(1));
        assertEquals(30, timeline.beginNanos(2));
        assertEquals(0, timeline.stallNanos(2));
        assertEquals(2 * PAGE, timeline.loadedBytes());
    }

    @Test
    void peakBytes_countsFromTheBeginOfALoadToTheLastStep() {
        assertEquals(4 * PAGE, timeline(load(0, 0), load(1, 0), load(2, 2)).peakBytes());
        assertEquals(3 * PAGE, timeline(load(0, 0), load(1, 1), load(2, 2)).peakBytes());
        assertEquals(
                4 * PAGE, timeline(new Load(1, 0, 0, true), load(0, 0), load(2, 1)).peakBytes());
    }

    @Test
    void of_deadlock_isRefused() {
        assertThrows(
                IllegalArgumentException.class, () -> timeline(load(0, 0), load(2, 2), load(1, 0)));
    }

    @Test
    void of_nothing_takesNoTime() {
        StreamingProblem empty = new StreamingProblem(activations(), uses(), costs());
        Timeline timeline = Timeline.of(new StreamingPlan("test", empty, Map.of(), List.of(), 0));
        assertEquals(0, timeline.nanos());
        assertEquals(0, timeline.peakBytes());
        assertEquals(0, timeline.stallNanos());
    }
}
