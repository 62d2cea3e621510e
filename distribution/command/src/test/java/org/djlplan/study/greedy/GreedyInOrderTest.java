package org.djlplan.study.greedy;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.junit.jupiter.api.Test;

class GreedyInOrderTest {

    @Test
    void plan_anyRecords_placesByFirstUseThenSize() {
        PlanningProblem problem =
                new PlanningProblem(records(0, 1, 10, 0, 0, 20, 1, 2, 30, 2, 3, 40));
        assertEquals(
                Map.of(0, 20L, 1, 0L, 2, 30L, 3, 60L),
                new GreedyInOrder().plan(problem).unitOffsets());
    }
}
