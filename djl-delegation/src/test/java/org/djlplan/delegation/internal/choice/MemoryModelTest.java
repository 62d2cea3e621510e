package org.djlplan.delegation.internal.choice;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.djlplan.delegation.internal.partition.PieceGraph.Piece;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class MemoryModelTest {

    private static final long MB = 1 << 20;

    private static Piece piece(int operator, long weightBytes) {
        return new Piece(ImmutableSortedSet.of(operator), operator, 0, weightBytes, 0);
    }

    @Test
    void bytes_ofMeasuredUnions_agrees() {
        List<Piece> pieces = List.of(piece(0, 10 * MB), piece(1, 20 * MB), piece(2, 70 * MB));
        MemoryModel memory = new MemoryModel(pieces, 5 * MB);

        memory.measured(Set.of(0, 1, 2), 3, 205 * MB);
        memory.measured(Set.of(0, 2), 2, 160 * MB);

        assertAll(
                () -> assertEquals(205 * MB, memory.bytes(Set.of(0, 1, 2), 3), MB),
                () -> assertEquals(160 * MB, memory.bytes(Set.of(0, 2), 2), MB),
                () -> assertEquals(5 * MB, memory.bytes(Set.of(), 0), 1),
                // The piece with most weights got most of it.
                () -> assertTrue(memory.bytes(Set.of(2), 1) > 2 * memory.bytes(Set.of(0), 1)));
    }

    @Test
    void bytes_smallerWhenDelegated_isNotBelowNothing() {
        MemoryModel memory = new MemoryModel(List.of(piece(0, MB)), 5 * MB);

        memory.measured(Set.of(0), 1, 0);

        assertEquals(0, memory.bytes(Set.of(0), 1), 1e-6 * MB);
    }
}
