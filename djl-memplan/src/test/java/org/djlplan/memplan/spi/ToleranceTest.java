package org.djlplan.memplan.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ToleranceTest {

    private static OutputError floats(double difference, double noise) {
        return floats(difference, noise, 1);
    }

    private static OutputError floats(double difference, double noise, double headroom) {
        return new OutputError(
                ElementType.FLOAT32,
                new Deviation(difference, difference, 0),
                new Deviation(noise, noise, 0),
                headroom);
    }

    private static OutputError steps(double largest, double far, int otherTops) {
        return new OutputError(
                ElementType.INT8, new Deviation(largest, far, otherTops), Deviation.NONE, 1);
    }

    @ParameterizedTest
    @CsvSource({
        // noise, headroom, limit
        "0, 1, 1e-4",
        "5e-6, 1, 1e-4",
        "5e-5, 1, 8e-4",
        "2e-4, 1, 2e-3",
        "5e-4, 1, 4e-3",
        "5e-3, 1, 1e-2",
        "1, 1, 1e-2",
        "5e-3, 3, 3e-2",
        "5e-3, 100, 4e-2",
    })
    void limit_ofFloats_growsWithTheNoise(double noise, double headroom, double limit) {
        assertEquals(limit, Tolerance.AUTO.limit(floats(0, noise, headroom)), 1e-9);
        assertTrue(Tolerance.AUTO.admits(floats(.999 * limit, noise, headroom)));
        assertFalse(Tolerance.AUTO.admits(floats(1.001 * limit, noise, headroom)));
    }

    @Test
    void admits_manyElementsALittleOff_isNotAsGoodAsFew() {
        Deviation noise = new Deviation(5e-4, 1e-4, 0);
        OutputError few =
                new OutputError(ElementType.FLOAT32, new Deviation(3e-3, 5e-4, 0), noise, 1);
        OutputError many =
                new OutputError(ElementType.FLOAT32, new Deviation(3e-3, 2e-3, 0), noise, 1);
        assertTrue(Tolerance.AUTO.admits(few));
        assertFalse(Tolerance.AUTO.admits(many));
    }

    @Test
    void admits_noNumber_isNever() {
        OutputError infinite =
                new OutputError(
                        ElementType.FLOAT32, Deviation.INFINITE, new Deviation(1, 1, 0), 1e9);
        assertFalse(Tolerance.AUTO.admits(infinite));
    }

    @Test
    void admits_hardLimit_ignoresNoise() {
        Tolerance hard = Tolerance.of(1e-5);
        assertTrue(hard.admits(floats(9e-6, 1)));
        assertFalse(hard.admits(floats(1.1e-5, 1)));
        assertTrue(hard.admits(steps(1, 1, 0)));
        assertFalse(hard.admits(steps(2, 0, 0)));
    }

    @Test
    void refuses_whatNoNoiseMakesAcceptable() {
        assertFalse(Tolerance.AUTO.refuses(floats(9e-3, 0)));
        assertTrue(Tolerance.AUTO.refuses(floats(1.1e-2, 0)));
        assertFalse(Tolerance.AUTO.refuses(floats(1.1e-2, 0, 2)));
        assertTrue(Tolerance.of(1e-5).refuses(floats(1.1e-5, 0)));
    }

    @Test
    void admits_quantized_upToTheirOwnNoise() {
        OutputError error = steps(9, .2, 1);
        assertFalse(Tolerance.AUTO.admits(error));
        assertFalse(Tolerance.AUTO.refuses(error));
        assertTrue(Tolerance.AUTO.admits(error.withNoise(new Deviation(9, .2, 1))));
        assertEquals(9, Tolerance.AUTO.limit(error.withNoise(new Deviation(9, .2, 1))));
        assertFalse(Tolerance.AUTO.admits(error.withNoise(new Deviation(8, .2, 1))));
        assertFalse(Tolerance.AUTO.admits(error.withNoise(new Deviation(9, .1, 1))));
        assertFalse(Tolerance.AUTO.admits(error.withNoise(new Deviation(9, .2, 0))));
        assertFalse(Tolerance.of(1e-5).admits(error.withNoise(new Deviation(9, .2, 1))));
    }

    @Test
    void admits_quantizedBeyondTenSteps_isNever() {
        Deviation noise = new Deviation(100, 1, 9);
        assertTrue(Tolerance.AUTO.admits(steps(10, 1, 0).withNoise(noise)));
        assertFalse(Tolerance.AUTO.admits(steps(11, 0, 0).withNoise(noise)));
        assertTrue(Tolerance.AUTO.refuses(steps(11, 0, 0)));
    }

    @Test
    void admits_byOperator_twiceAsFarAsStepsOfTheInputsMoveOutputs() {
        OutputError error = steps(41, .1, 1).withOperators(new ByOperator(3, 1));
        assertFalse(Tolerance.AUTO.admits(error));
        assertFalse(Tolerance.AUTO.refuses(error));
        OutputError known = error.withNoise(new Deviation(25, .05, 0));
        assertTrue(Tolerance.AUTO.admits(known));
        assertEquals(50, Tolerance.AUTO.limit(known));
        assertFalse(Tolerance.AUTO.admits(error.withNoise(new Deviation(20, .05, 0))));
        assertFalse(Tolerance.AUTO.admits(error.withNoise(new Deviation(25, .04, 0))));
        assertTrue(Tolerance.AUTO.admits(steps(4, .01, 1).withOperators(new ByOperator(3, 1))));
        OutputError floats = floats(.06, .07).withOperators(new ByOperator(3, .5));
        assertTrue(Tolerance.AUTO.admits(floats));
        assertFalse(Tolerance.AUTO.admits(floats.withNoise(new Deviation(.029, .07, 0))));
        assertFalse(Tolerance.AUTO.admits(floats.withNoise(new Deviation(.07, .029, 0))));
        assertTrue(Tolerance.AUTO.admits(floats(.01, 0).withOperators(new ByOperator(3, .5))));
    }

    @Test
    void admits_oneWrongOperator_isNever() {
        ByOperator wrong = new ByOperator(3, 1.01);
        OutputError near = steps(2, 0, 0).withOperators(wrong);
        assertTrue(Tolerance.AUTO.admits(steps(2, 0, 0)));
        assertFalse(Tolerance.AUTO.admits(near));
        assertTrue(Tolerance.AUTO.refuses(near));
        assertTrue(Tolerance.AUTO.refuses(floats(1e-3, 1).withOperators(wrong)));
    }

    @ParameterizedTest
    @CsvSource({
        "FLOAT32, 1e-4, true",
        "FLOAT32, 1.1e-4, false",
        "INT8, 1, true",
        "INT8, 2, false",
        "INT32, 0, true",
        "INT32, 1, false"
    })
    void isRounding_byType(ElementType type, double difference, boolean expected) {
        assertEquals(expected, Tolerance.isRounding(new OutputError(type, difference)));
    }

    @Test
    void admits_otherTypes_onlyIfEqual() {
        assertTrue(Tolerance.AUTO.admits(new OutputError(ElementType.INT32, 0)));
        assertFalse(Tolerance.AUTO.admits(new OutputError(ElementType.INT32, 1)));
    }
}
