package org.djlplan.memplan.internal.usage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class AllocationTraceTest {

    private static Allocation allocation(long bytes, int allocatedAt, int freedAt) {
        return new Allocation(bytes, allocatedAt, OptionalInt.of(freedAt));
    }

    /** The pass ends at 5; the second and third block are freed by its caller. */
    private static final AllocationTrace TRACE =
            new AllocationTrace(
                    List.of(
                            allocation(9000, 0, 2),
                            allocation(100, 1, 6),
                            allocation(300, 3, 5),
                            new Allocation(7000, 4, OptionalInt.empty())));

    private static List<Boolean> plannable(AllocationTrace trace) {
        return trace.allocations().stream().map(Allocation::plannable).toList();
    }

    @Test
    void withFewBytesEscaped_littleOutlivesThePass_isLeftToTheEngine() {
        AllocationTrace left = TRACE.withFewBytesEscaped(5, 400);
        assertEquals(List.of(true, false, false, false), plannable(left));
        assertEquals(9000, left.allocations().get(0).bytes());
    }

    @Test
    void withFewBytesEscaped_muchOutlivesThePass_isPlacedAsBefore() {
        assertSame(TRACE, TRACE.withFewBytesEscaped(5, 399));
    }

    @Test
    void withFewBytesEscaped_nothingOutlivesThePass_isThatTrace() {
        assertEquals(TRACE, TRACE.withFewBytesEscaped(7, 1000));
    }

    @Test
    void problem_ofTrace_hasPlannableAllocations() {
        assertEquals(3, TRACE.problem().records().size());
        assertEquals(1, TRACE.withFewBytesEscaped(5, 400).problem().records().size());
    }

    @Test
    void new_allocationsOutOfOrder_isRefused() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new AllocationTrace(List.of(allocation(1, 3, 4), allocation(1, 3, 5))));
    }
}
