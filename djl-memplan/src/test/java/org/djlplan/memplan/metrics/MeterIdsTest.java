package org.djlplan.memplan.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class MeterIdsTest {

    @Test
    void of_ownersOfOneName_areNumbered() {
        Object one = new Object();
        Object two = new Object();
        assertEquals("1", MeterIds.of("a", one));
        assertEquals("2", MeterIds.of("a", two));
        assertEquals("1", MeterIds.of("a", one));
        assertEquals("1", MeterIds.of("b", two));
    }
}
