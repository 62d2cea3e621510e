package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.junit.jupiter.api.Test;

class WeightNamesTest {

    private static final long PIECE = WeightTraces.PIECE_BYTES;

    /** The second step uses pieces 1 and 2. */
    private static final WeightTrace TRACE = WeightTraces.of(1, 2, 1);

    private static String largest(Map<String, Long> bytes, int step) {
        return new WeightNames(
                        () -> new TreeMap<>(bytes),
                        () ->
                                List.of(
                                        new WeightFile.Block(0, PIECE),
                                        new WeightFile.Block(PIECE, 2 * PIECE),
                                        new WeightFile.Block(3 * PIECE, PIECE)))
                .largest(TRACE, step);
    }

    @Test
    void largest_oneHasTheSize_isNamed() {
        Map<String, Long> bytes = Map.of("a", PIECE, "b", 2 * PIECE - 1, "c", 3 * PIECE);
        assertEquals(" (b)", largest(bytes, 1), "in whole pages");
        assertEquals(" (a)", largest(bytes, 2));
    }

    @Test
    void largest_severalHaveTheSize_namesThree() {
        assertEquals(" (a or b)", largest(Map.of("b", PIECE, "a", PIECE), 0));
        assertEquals(
                " (a or b or c or one as large)",
                largest(Map.of("a", PIECE, "b", PIECE, "c", PIECE, "d", PIECE), 0));
    }

    @Test
    void largest_noneHasTheSize_isEmpty() {
        assertEquals("", largest(Map.of("a", PIECE), 1));
        assertEquals("", largest(Map.of(), 0));
    }
}
