package org.djlplan.memplan.internal.usage;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class PlanningProblemTest {

    /** Tensors 0 to 3, one after another. */
    private static final List<UsageRecord> APART = records(0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4);

    private static Conflicts pair(int tensor, int other) {
        return new Conflicts.Builder().add(tensor, other).build();
    }

    @Test
    void conflict_overlapOrListed_isSymmetric() {
        PlanningProblem problem =
                new PlanningProblem(records(0, 1, 8, 1, 2, 8, 4, 4, 8)).withConflicts(pair(2, 0));
        List<UsageRecord> units = problem.units();
        assertTrue(problem.conflict(units.get(0), units.get(1)));
        assertTrue(problem.conflict(units.get(0), units.get(2)));
        assertTrue(problem.conflict(units.get(2), units.get(0)));
        assertFalse(problem.conflict(units.get(1), units.get(2)));
    }

    @Test
    void conflict_memberOfAClass_countsForTheClass() {
        PlanningProblem problem =
                new PlanningProblem(APART, List.of(List.of(0, 1))).withConflicts(pair(1, 3));
        List<UsageRecord> units = problem.units();
        assertEquals(List.of(0, 2, 3), units.stream().map(UsageRecord::tensor).toList());
        assertTrue(problem.conflict(units.get(0), units.get(2)));
        assertFalse(problem.conflict(units.get(0), units.get(1)));
        assertTrue(problem.conflicts().contains(1, 3));
        assertFalse(problem.conflicts().contains(0, 3));
    }

    @Test
    void serial_conflictsWithinOneClassOnly_isTrue() {
        assertTrue(new PlanningProblem(APART).serial());
        assertFalse(new PlanningProblem(APART).withConflicts(pair(0, 1)).serial());
        PlanningProblem within =
                new PlanningProblem(APART, List.of(List.of(0, 1))).withConflicts(pair(0, 1));
        assertTrue(within.serial());
        assertFalse(within.conflicts().isEmpty());
    }

    @Test
    void withConflicts_tensorWithoutARecord_isAnError() {
        PlanningProblem problem = new PlanningProblem(APART);
        assertThrows(IllegalArgumentException.class, () -> problem.withConflicts(pair(0, 4)));
    }

    @Test
    void conflicts_builtFrom_areListedBothWays() {
        Conflicts.Builder builder = new Conflicts.Builder().add(3, 1).add(1, 3).add(1, 70);
        Conflicts conflicts = builder.build();
        builder.add(1, 2);
        assertArrayEquals(new int[] {1, 3, 70}, conflicts.tensors());
        assertArrayEquals(new int[] {3, 70}, conflicts.of(1).toArray());
        assertArrayEquals(new int[] {1}, conflicts.of(70).toArray());
        assertArrayEquals(new int[0], conflicts.of(2).toArray());
        assertTrue(Conflicts.NONE.isEmpty());
    }

    @Test
    void conflicts_tensorWithItselfOrNegative_isAnError() {
        Conflicts.Builder builder = new Conflicts.Builder();
        assertThrows(IllegalArgumentException.class, () -> builder.add(1, 1));
        assertThrows(IllegalArgumentException.class, () -> builder.add(1, -1));
        assertThrows(IllegalArgumentException.class, () -> builder.add(-1, 1));
        assertTrue(builder.build().isEmpty());
    }
}
