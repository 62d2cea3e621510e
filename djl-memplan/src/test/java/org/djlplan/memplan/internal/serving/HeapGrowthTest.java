package org.djlplan.memplan.internal.serving;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class HeapGrowthTest {

    private OptionalLong heapBytes = OptionalLong.of(1_000);

    private HeapGrowth from(long bytes) {
        heapBytes = OptionalLong.of(bytes);
        return HeapGrowth.of(() -> heapBytes);
    }

    @Test
    void moreThan_bothMeasured_isTheDifferenceOfTheirGrowth() {
        HeapGrowth small = from(1_000);
        heapBytes = OptionalLong.of(1_300);
        small.measure();
        HeapGrowth large = from(2_000);
        heapBytes = OptionalLong.of(2_800);
        large.measure();
        heapBytes = OptionalLong.of(9_000);
        assertEquals(OptionalLong.of(500), large.moreThan(small));
        assertEquals(OptionalLong.of(-500), small.moreThan(large));
    }

    @Test
    void moreThan_oneIsNotMeasured_isEmpty() {
        HeapGrowth measured = from(1_000);
        measured.measure();
        HeapGrowth other = from(1_000);
        assertEquals(OptionalLong.empty(), measured.moreThan(other));
        assertEquals(OptionalLong.empty(), other.moreThan(measured));
    }

    @Test
    void measure_libraryDoesNotTell_isEmpty() {
        heapBytes = OptionalLong.empty();
        HeapGrowth unknown = HeapGrowth.of(() -> heapBytes);
        HeapGrowth known = from(1_000);
        unknown.measure();
        known.measure();
        assertEquals(OptionalLong.empty(), known.moreThan(unknown));
        heapBytes = OptionalLong.empty();
        known.measure();
        assertEquals(OptionalLong.of(0), known.moreThan(known));
    }
}
