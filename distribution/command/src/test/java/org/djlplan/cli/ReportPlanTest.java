package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.gson.reflect.TypeToken;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.internal.runtime.torch.OperatorNames.Named;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.junit.jupiter.api.Test;

class ReportPlanTest {

    /** A plan of three allocations, the second of which is left to the engine. */
    private static final List<UsageRecord> PLANNED =
            List.of(new UsageRecord(0, 0, 2, 128), new UsageRecord(2, 3, 4, 64));

    private static Named named(long bytes, String operator, Integer... shape) {
        return new Named(bytes, operator, Optional.of(List.of(shape)));
    }

    @Test
    void planned_samePrediction_equalsPlannedAllocations() {
        List<Named> allocations =
                List.of(
                        named(100, "aten::conv2d", 1, 25),
                        new Named(4000, "aten::linear", Optional.empty()),
                        named(64, ""));
        assertEquals(
                Map.of(0, allocations.get(0), 2, allocations.get(2)),
                ReportPlan.planned(PLANNED, allocations));
        assertEquals(
                allocations, Json.read(Json.tree(allocations), new TypeToken<List<Named>>() {}));
    }

    @Test
    void planned_anotherPrediction_isNotGuessed() {
        List<Named> fewer = List.of(named(100, "a"), named(4000, "b"));
        List<Named> larger = List.of(named(100, "a"), named(4000, "b"), named(65, "c"));
        for (List<Named> others : List.of(fewer, larger)) {
            assertThrows(Failure.class, () -> ReportPlan.planned(PLANNED, others));
        }
    }
}
