package org.djlplan.delegation.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class ChartTest {

    private static List<String> texts(Chart.Axis axis) {
        return axis.ticks().asList().stream().map(axis::text).toList();
    }

    @Test
    void upTo_anyScale_hasRoundTicks() {
        assertEquals(
                List.of("0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2", "1.4"),
                texts(Chart.Axis.upTo("ms", 1.35)));
        assertEquals(
                List.of("0", "50", "100", "150", "200", "250"), texts(Chart.Axis.upTo("ms", 237)));
        assertEquals(
                List.of("0.000", "0.005", "0.010", "0.015", "0.020"),
                texts(Chart.Axis.upTo("ms", 0.02)));
    }

    @Test
    void upTo_anyValue_isWithin() {
        for (double most = 1e-4; most < 1e5; most *= 1.37) {
            Chart.Axis axis = Chart.Axis.upTo("ms", most);
            assertTrue(axis.high() >= most * (1 - 1e-6), "above " + most + ": " + axis);
            assertTrue(axis.high() <= most * 1.7, "not far above " + most + ": " + axis);
            assertTrue(axis.ticks().length() <= 9, axis::toString);
        }
    }

    @Test
    void upTo_nothing_isAnAxis() {
        assertTrue(Chart.Axis.upTo("ms", 0).high() > 0);
    }

    @Test
    void whole_few_haveATickEach() {
        Chart.Axis axis = Chart.Axis.whole("n", 0, 3);
        assertEquals(List.of("0", "1", "2", "3"), texts(axis));
        assertEquals(0.125, axis.part(0), 1e-12);
        assertEquals(0.875, axis.part(3), 1e-12);
    }

    @Test
    void whole_many_haveSome() {
        assertEquals(List.of("5", "10", "15"), texts(Chart.Axis.whole("n", 1, 70)).subList(0, 3));
        assertEquals(List.of("0"), texts(Chart.Axis.whole("n", 0, 0)));
    }
}
