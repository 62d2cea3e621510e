package org.djlplan.study.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FirstNTest {

    @Test
    void operators_takesThoseWithMostNodes() {
        List<Set<Integer>> partitions = List.of(Set.of(0), Set.of(2, 3, 4), Set.of(6, 7));

        assertEquals(Set.of(2, 3, 4), FirstN.operators(partitions, 1));
        assertEquals(Set.of(2, 3, 4, 6, 7), FirstN.operators(partitions, 2));
        assertEquals(Set.of(0, 2, 3, 4, 6, 7), FirstN.operators(partitions, 0));
    }
}
