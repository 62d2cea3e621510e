package org.djlplan.memplan.internal.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.budget.ResidentWeights.Change;
import org.djlplan.memplan.internal.budget.ResidentWeights.Stall;
import org.djlplan.memplan.internal.budget.StreamingPlan.Load;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.junit.jupiter.api.Test;

class ResidentWeightsTest {

    private static final long PAGE = WeightUse.PAGE_BYTES;

    /** Three steps of 10 ns; a page loads in as many nanoseconds as it has bytes. */
    private static StreamingPlan plan() {
        StepCosts costs = new StepCosts(new long[] {10, 10, 10}, 1, 0);
        StreamingProblem problem =
                new StreamingProblem(
                        new PlanningProblem(List.of()),
                        List.of(
                                new WeightUse(0, 0, 0, PAGE),
                                new WeightUse(1, 1, 1, 2 * PAGE),
                                new WeightUse(2, 2, 2, PAGE)),
                        costs);
        return new StreamingPlan(
                "by hand",
                problem,
                Map.of(),
                List.of(
                        new Load(0, 0, 0, true),
                        new Load(1, PAGE, 0, false),
                        new Load(2, PAGE, 2, false)),
                3 * PAGE);
    }

    @Test
    void of_twoLoadsAfterEachOther_comeAndGoAsTheTimelineSays() {
        ResidentWeights weights = ResidentWeights.of(plan(), step -> "step " + step);
        assertEquals(PAGE, weights.pinnedBytes());
        long secondEnds = 2 * PAGE + 10;
        assertEquals(
                List.of(
                        new Change(0, 2 * PAGE, "step 1"),
                        new Change(secondEnds, -2 * PAGE, "step 1"),
                        new Change(secondEnds, PAGE, "step 2"),
                        new Change(secondEnds + PAGE + 10, -PAGE, "step 2")),
                weights.changes());
        assertEquals(
                List.of(
                        new Stall(10, 2 * PAGE - 10, "step 1"),
                        new Stall(secondEnds, PAGE, "step 2")),
                weights.stalls());
        assertEquals("step 1", weights.binding());
        assertEquals(Timeline.of(plan()).nanos(), weights.nanos());
    }

    private static WeightTrace trace(WeightUse... uses) {
        List<WeightTrace.Piece> pieces = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            pieces.add(new WeightTrace.Piece(i * PAGE, PAGE));
        }
        ImmutableLongArray nanos = ImmutableLongArray.of(10, 20, 30);
        return new WeightTrace(pieces, nanos, nanos, List.of(uses), List.of());
    }

    @Test
    void of_piecesWithAddresses_comeAndGoInTheTimeOfWatchedSteps() {
        WeightTrace trace =
                trace(
                        new WeightUse(0, 0, 0, PAGE),
                        new WeightUse(1, 1, 1, PAGE),
                        new WeightUse(2, 2, 2, PAGE));
        ResidencyPlanner planner =
                new ResidencyPlanner(trace.uses(), trace.lookups(), trace.stepNanos());

        ResidentWeights weights =
                ResidentWeights.of(planner.plan(PAGE), trace, planner.hungriestStep());

        assertEquals(
                List.of(
                        new Change(0, PAGE, "step 0"),
                        new Change(10, -PAGE, "step 0"),
                        new Change(10, PAGE, "step 1"),
                        new Change(30, -PAGE, "step 1"),
                        new Change(30, PAGE, "step 2")),
                weights.changes());
        assertEquals(0, weights.pinnedBytes());
        assertEquals(60, weights.nanos());
        assertEquals(List.of(), weights.stalls());
        assertEquals("step 0", weights.binding());
        ResidentWeights all =
                ResidentWeights.of(planner.plan(3 * PAGE), trace, planner.hungriestStep());
        assertEquals(3 * PAGE, all.pinnedBytes());
        assertEquals(List.of(), all.changes());
    }
}
