package org.djlplan.study.greedy;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.junit.jupiter.api.Test;

class TfliteArenaTest {

    @Test
    void plan_wholeLifetimes_comeFirstThenSizeThenFirstUse() {
        // Tensors 1 and 3 live all the time. Of the two tensors of 20 bytes, tensor 4 is used
        // first.
        PlanningProblem problem =
                new PlanningProblem(records(2, 3, 20, 0, 5, 1, 5, 5, 30, 0, 5, 2, 0, 2, 20));
        assertEquals(
                Map.of(0, 23L, 1, 0L, 2, 3L, 3, 1L, 4, 3L),
                new TfliteArena().plan(problem).unitOffsets());
    }
}
