package org.djlplan.memplan.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrecisionTest {

    private static final Candidate INT8 = Candidate.ofRecipe("int8", 1);
    private static final Tolerance PERMITTED = Tolerance.AUTO.with(new Precision("int8", .98));

    private static OutputError error(double largest, double spread) {
        return new OutputError(
                ElementType.FLOAT32, new Deviation(largest, spread, 0), Deviation.NONE, 1);
    }

    @ParameterizedTest
    @CsvSource({
        "float32, float32",
        "float16, float16:0.9999",
        "bfloat16, bfloat16:0.999",
        "int8, int8:0.97",
        "int8:0.98, int8:0.98",
        "float16:1, float16:1.0",
    })
    void parse_validText_isRead(String text, String parsed) {
        assertEquals(parsed, Precision.parse(text).orElseThrow().toString());
        assertEquals(Precision.parse(text), Precision.parse(parsed));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "int4", "int8:", "int8:2", "int8:0.4", "int8:.9", "float32:1", "INT8"})
    void parse_otherText_isEmpty(String text) {
        assertEquals(Optional.empty(), Precision.parse(text));
    }

    @Test
    void tolerance_cosine_isTheLengthOfTheChord() {
        assertEquals(.2, new Precision("int8", .98).tolerance().hard().orElseThrow(), 1e-9);
    }

    @Test
    void ofCandidate_lowerPrecision_hasItsOwnLimit() {
        assertTrue(PERMITTED.of(INT8).admits(error(.19, .19)));
        assertFalse(PERMITTED.of(INT8).admits(error(.21, .19)));
        assertFalse(PERMITTED.of(INT8).admits(error(.19, .21)));
        assertFalse(PERMITTED.of(Candidate.ofRecipe("frozen", 1)).admits(error(.19, .19)));
        assertFalse(Tolerance.AUTO.of(INT8).admits(error(.19, .19)));
    }

    @Test
    void ofCandidate_integers_mustBeEqual() {
        assertFalse(PERMITTED.of(INT8).admits(new OutputError(ElementType.INT64, 1)));
    }

    @Test
    void leastCosine_error_isThatOfTheLargestAngle() {
        assertEquals(1, error(.5, 0).leastCosine());
        assertEquals(.8, error(0, .6).leastCosine(), 1e-9);
        assertEquals(0, error(0, Double.POSITIVE_INFINITY).leastCosine());
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "1.0E-5", "auto, int8:0.98", "0.001, float16:0.9999"})
    void parseTolerance_text_isReadBack(String text) {
        assertEquals(text, Tolerance.parse(text).toString());
    }

    @Test
    void parseTolerance_otherText_throws() {
        assertThrows(IllegalArgumentException.class, () -> Tolerance.parse("auto, int4"));
        assertThrows(IllegalArgumentException.class, () -> Tolerance.parse("much"));
    }
}
