package org.djlplan.memplan.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShapeMixTest {

    @Test
    void parse_textOfAMix_isTheMix() {
        for (ShapeMix mix :
                List.of(
                        new ShapeMix(List.of(List.of(List.of(1, 16000))), 1.0 / 16),
                        new ShapeMix(List.of(List.of(List.of(), List.of(3))), 1e-5),
                        new ShapeMix(
                                List.of(
                                        List.of(List.of(1, 8), List.of(2)),
                                        List.of(List.of(4, 8), List.of(7))),
                                1))) {
            assertEquals(mix, ShapeMix.parse(mix.toString()));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[[[1, 2]]]",
                "ShapeMix[shapes=[], changes=1.0]",
                "ShapeMix[shapes=[[[1]]], changes=0.0]",
                "ShapeMix[shapes=[[[1, 0]]], changes=1.0]",
                "ShapeMix[shapes=[[[1]]], changes=1]",
                "ShapeMix[shapes=[[[99999999999]]], changes=1.0]",
                "ShapeMix[shapes=[[[1,2]]], changes=1.0]",
                "ShapeMix[shapes=[[[1]], [[1, 2]]], changes=1.0]",
                "ShapeMix[shapes=[[[1]], [[2]], [[3]], [[4]]], changes=1.0]",
                "ShapeMix[shapes=[[[1], changes=1.0]"
            })
    void parse_anotherText_isRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> ShapeMix.parse(text));
    }

    @Test
    void mostElements_isThatOfTheLargestInputsTogether() {
        assertEquals(
                34,
                new ShapeMix(
                                List.of(
                                        List.of(List.of(4, 8), List.of(2)),
                                        List.of(List.of(1, 8), List.of(7))),
                                1)
                        .mostElements());
    }
}
