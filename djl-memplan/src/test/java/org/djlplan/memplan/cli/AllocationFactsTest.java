package org.djlplan.memplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.gson.JsonParser;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.runtime.torch.OperatorNames.Named;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;
import org.junit.jupiter.api.Test;

class AllocationFactsTest {

    /** Of three allocations the second is left to the engine. */
    private static final PlanningProblem PLANNED =
            new PlanningProblem(
                    List.of(new UsageRecord(0, 0, 2, 128), new UsageRecord(2, 3, 4, 64)));

    @Test
    void operators_samePrediction_areThoseOfPlannedAllocations() {
        List<Named> allocations =
                List.of(
                        new Named(100, "aten::conv2d"),
                        new Named(4000, "aten::linear"),
                        new Named(64, ""));
        assertEquals(Map.of(0, "aten::conv2d"), AllocationFacts.operators(PLANNED, allocations));
        assertEquals(
                allocations,
                AllocationFacts.named(
                        JsonParser.parseString(AllocationFacts.toJson(allocations).toString())
                                .getAsJsonArray()));
    }

    @Test
    void operators_anotherPrediction_areNotGuessed() {
        List<Named> fewer = List.of(new Named(100, "a"), new Named(4000, "b"));
        List<Named> larger = List.of(new Named(100, "a"), new Named(4000, "b"), new Named(65, "c"));
        for (List<Named> others : List.of(fewer, larger)) {
            assertThrows(Failure.class, () -> AllocationFacts.operators(PLANNED, others));
        }
    }
}
