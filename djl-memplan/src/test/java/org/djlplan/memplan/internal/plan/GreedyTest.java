package org.djlplan.memplan.internal.plan;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.OffsetStrategyContract;
import org.junit.jupiter.api.Test;

class GreedyTest extends OffsetStrategyContract {

    @Override
    protected List<OffsetStrategy> strategies() {
        return List.of(Greedy.BY_SIZE, Greedy.BY_BREADTH, Greedy.REPEATED, Greedy.NAIVE);
    }

    private static List<Long> offsets(OffsetStrategy strategy, List<UsageRecord> records) {
        OffsetPlan plan = strategy.plan(new PlanningProblem(records));
        return records.stream().map(r -> plan.offsetOf(r.tensor())).toList();
    }

    @Test
    void bySize_severalGaps_takesTheSmallestThatFits() {
        // Tensors 0 to 4 make a column at operator 0; 1 and 3 end there and leave gaps of 30 and
        // 20.
        List<UsageRecord> records =
                records(0, 9, 50, 0, 0, 30, 0, 9, 25, 0, 0, 20, 0, 9, 19, 5, 5, 18);
        assertEquals(List.of(0L, 50L, 80L, 105L, 125L, 105L), offsets(Greedy.BY_SIZE, records));
    }

    @Test
    void repeated_unitEndsAboveTheBound_comesFirst() {
        List<UsageRecord> records = records(0, 2, 40, 2, 4, 10, 0, 1, 50, 3, 4, 50);
        assertEquals(90, LowerBounds.offsetBytes(records));
        assertEquals(List.of(50L, 90L, 0L, 0L), offsets(Greedy.BY_SIZE, records));
        assertEquals(List.of(50L, 0L, 0L, 10L), offsets(Greedy.REPEATED, records));
    }

    @Test
    void naive_anyRecords_liesSideBySide() {
        assertEquals(
                List.of(0L, 2L, 5L), offsets(Greedy.NAIVE, records(0, 0, 2, 1, 1, 3, 2, 2, 4)));
    }
}
