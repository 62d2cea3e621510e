package org.djlplan.memplan.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Comparator;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class CandidateTest {

    private static SortedSet<Integer> descending(Integer... operators) {
        SortedSet<Integer> set = new TreeSet<>(Comparator.reverseOrder());
        set.addAll(List.of(operators));
        return set;
    }

    @Test
    void operators_givenInDescendingOrder_areAscending() {
        Candidate candidate = new Candidate(descending(1, 5, 3), 1);
        assertEquals(List.of(1, 3, 5), List.copyOf(candidate.operators()));
    }

    @Test
    void new_negativeOperator_isRefusedInAnyOrder() {
        SortedSet<Integer> operators = descending(-1, 4);
        assertThrows(IllegalArgumentException.class, () -> new Candidate(operators, 1));
    }

    @Test
    void operators_setThatWasGivenChanges_stayTheSame() {
        SortedSet<Integer> operators = new TreeSet<>(List.of(1, 2));
        Candidate candidate = new Candidate(operators, 1);
        operators.add(3);
        assertEquals(List.of(1, 2), List.copyOf(candidate.operators()));
        assertThrows(UnsupportedOperationException.class, () -> candidate.operators().add(4));
    }
}
