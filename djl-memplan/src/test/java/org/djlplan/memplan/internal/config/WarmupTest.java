package org.djlplan.memplan.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class WarmupTest {

    @Test
    void parse_values_areOnOffOrShapes() {
        assertEquals(Warmup.NONE, Warmup.parse("FALSE"));
        assertEquals(Warmup.AS_DESCRIBED, Warmup.parse("true"));
        assertEquals(
                new Warmup(true, List.of(new InputShape(List.of(1L, 3L), "int64"))),
                Warmup.parse("1,3:int64"));
        assertEquals(
                new Warmup(
                        true,
                        List.of(
                                new InputShape(List.of(), "int64"),
                                new InputShape(List.of(2L), "float32"))),
                Warmup.parse("scalar:int64;2"));
    }

    @Test
    void parse_badValue_saysWhatMayBe() {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> Warmup.parse("maybe"));
        assertEquals(
                "memplan.warmup=maybe: must be true, false, or shapes such as"
                        + " 1,3,224,224;1,128:int64",
                e.getMessage());
    }

    @Test
    void new_shapesWithoutPredictions_areRefused() {
        List<InputShape> shapes = List.of(new InputShape(List.of(1L), "float32"));
        assertThrows(IllegalArgumentException.class, () -> new Warmup(false, shapes));
    }
}
