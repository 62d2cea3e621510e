package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import java.util.List;
import java.util.OptionalInt;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

class ReplayPlanTest {

    private static final LivenessTrace TRACE =
            new LivenessTrace(
                    List.of(
                            created("float32", OptionalInt.of(2), 2L, 3L),
                            created("int64", OptionalInt.empty(), 5L),
                            created("float32", OptionalInt.of(4)),
                            created("boolean", OptionalInt.of(4), 1L, 1L, 1L)));

    private static LivenessTrace.Array created(String type, OptionalInt closedAt, Long... shape) {
        return new LivenessTrace.Array(new ArrayType(type, List.of(shape)), closedAt);
    }

    private static NDArray array(DataType type, long... shape) {
        return FakeArrays.array(type, shape);
    }

    @Test
    void admits_ownPlan_theRecordedTypeAndShapeOnly() {
        ReplayPlan plan = new ReplayPlan(TRACE, false);
        assertTrue(plan.admits(0, array(DataType.FLOAT32, 2, 3)));
        assertFalse(plan.admits(0, array(DataType.FLOAT16, 2, 3)));
        assertFalse(plan.admits(0, array(DataType.FLOAT32, 3, 2)));
        assertFalse(plan.admits(0, array(DataType.FLOAT32, 2, 3, 1)));
        assertFalse(plan.admits(1, array(DataType.FLOAT32, 2, 3)));
        assertTrue(plan.admits(2, array(DataType.FLOAT32)));
    }

    @Test
    void admits_borrowedPlan_anySizesOfTheSameRank() {
        ReplayPlan plan = new ReplayPlan(TRACE, true);
        assertTrue(plan.borrowed());
        assertTrue(plan.admits(0, array(DataType.FLOAT32, 7, 9)));
        assertFalse(plan.admits(0, array(DataType.FLOAT32, 6)));
        assertFalse(plan.admits(0, array(DataType.INT32, 7, 9)));
        assertFalse(plan.admits(2, array(DataType.FLOAT32, 1)));
    }

    @Test
    void admits_moreArraysThanRecorded_no() {
        for (boolean borrowed : new boolean[] {false, true}) {
            ReplayPlan plan = new ReplayPlan(TRACE, borrowed);
            assertEquals(4, plan.size());
            assertFalse(plan.admits(3, array(DataType.BOOLEAN, 1)));
            assertFalse(plan.admits(4, array(DataType.BOOLEAN, 1, 1, 1)));
        }
    }

    @Test
    void due_eachNumber_thoseClosedUponIt() {
        ReplayPlan plan = new ReplayPlan(TRACE, false);
        assertArrayEquals(new int[0], plan.due(0));
        assertArrayEquals(new int[0], plan.due(1));
        assertArrayEquals(new int[] {0}, plan.due(2));
        assertArrayEquals(new int[0], plan.due(3));
        // At the end the last array is due, too; an array that nobody closes is never due.
        assertArrayEquals(new int[] {2, 3}, plan.due(4));
    }

    @Test
    void due_emptyTrace_nothingAtTheEnd() {
        ReplayPlan plan = new ReplayPlan(new LivenessTrace(List.of()), false);
        assertEquals(0, plan.size());
        assertArrayEquals(new int[0], plan.due(0));
        assertFalse(plan.admits(0, array(DataType.FLOAT32)));
    }

    @Test
    void new_elementTypeOfAnotherDjl_isRefused() {
        LivenessTrace foreign =
                new LivenessTrace(List.of(created("float8", OptionalInt.empty(), 1L)));
        assertThrows(IllegalArgumentException.class, () -> new ReplayPlan(foreign, false));
    }
}
