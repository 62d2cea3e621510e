package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InputSpecTest {

    @Test
    void parse_value_isThatOfAllElements() {
        InputSpec rate = InputSpec.parse("scalar:int64=16000");
        assertEquals(OptionalDouble.of(16000), rate.value());
        assertEquals(rate, InputSpec.parse(rate.text()));
        ModelInput input = ModelInput.allocate(List.of(InputSpec.parse("2,3=-0.5"))).get(0);
        input.fill(new Random(1));
        for (int i = 0; i < 6; i++) {
            assertEquals(-0.5f, input.values().getFloat(i * Float.BYTES));
        }
        for (String wrong : List.of("1,2=", "1,2=x", "1,2=1e3", "=5")) {
            assertThrows(IllegalArgumentException.class, () -> InputSpec.parse(wrong));
        }
    }

    @Test
    void parse_shapeAndType_areRead() {
        assertEquals(
                new InputSpec(new Shape(1, 3, 224, 224), Optional.empty()),
                InputSpec.parse("1,3,224,224"));
        assertEquals(
                new InputSpec(new Shape(1, 128), Optional.of(DataType.INT64)),
                InputSpec.parse("1,128:int64"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"7", "1,128:int64", "1,3,4:float32", "2:boolean", "scalar", "scalar:int64"})
    void text_parsed_isTheSameText(String text) {
        assertEquals(text, InputSpec.parse(text).text());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a",
                "1,",
                ",1",
                "1,-3",
                "1,0",
                "1 2",
                "1:",
                "1:string",
                "1:int65",
                ":int64",
                "scalar,1",
                "scalars",
                "99999999999999999999"
            })
    void parse_noShape_isRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> InputSpec.parse(text));
    }

    @Test
    void parse_scalar_hasNoDimensions() {
        assertEquals(
                new InputSpec(new Shape(), Optional.of(DataType.INT64)),
                InputSpec.parse("scalar:int64"));
        assertEquals(
                Long.BYTES, ModelInput.allocate(new Shape(), DataType.INT64).values().capacity());
    }

    @Test
    void reshape_otherCountTypeOrRank_isRefused() {
        List<InputSpec> own = List.of(InputSpec.parse("1,8:float32"));
        for (String given : List.of("1,8:int8", "8", "1,1,8", "scalar")) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> InputSpec.reshape(own, List.of(InputSpec.parse(given))));
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> InputSpec.reshape(own, List.of(own.get(0), own.get(0))));
    }

    @Test
    void reshape_otherDimensions_keepsTheModelsType() {
        List<InputSpec> own = List.of(InputSpec.parse("1,8:uint8"));
        assertEquals(
                List.of(InputSpec.parse("2,8:uint8")),
                InputSpec.reshape(own, List.of(InputSpec.parse("2,8"))));
        assertEquals(own, InputSpec.reshape(own, List.of()));
    }

    @Test
    void fill_sameSeed_givesTheSameValuesInRange() {
        ModelInput a = ModelInput.allocate(new Shape(1000), DataType.FLOAT32);
        ModelInput b = ModelInput.allocate(new Shape(1000), DataType.FLOAT32);
        a.fill(new Random(7));
        b.fill(new Random(7));
        assertEquals(a.values(), b.values());
        b.fill(new Random(8));
        assertTrue(a.values().mismatch(b.values()) >= 0);
        ByteBuffer values = a.values().duplicate().order(a.values().order());
        while (values.hasRemaining()) {
            float value = values.getFloat();
            assertTrue(value >= 0 && value < 1, () -> "out of range: " + value);
        }
    }

    @Test
    void fill_integers_useTheirRange() {
        ModelInput bytes = ModelInput.allocate(new Shape(10_000), DataType.INT8);
        bytes.fill(new Random(1));
        boolean[] seen = new boolean[256];
        while (bytes.values().hasRemaining()) {
            seen[Byte.toUnsignedInt(bytes.values().get())] = true;
        }
        for (int i = 0; i < seen.length; i++) {
            assertTrue(seen[i], "never: " + i);
        }
    }

    @Test
    void allocate_typeOrSizeNotSupported_isRefused() {
        assertThrows(Failure.class, () -> ModelInput.allocate(new Shape(1), DataType.STRING));
        assertThrows(
                Failure.class,
                () -> ModelInput.allocate(new Shape(1 << 20, 1 << 10), DataType.FLOAT32));
    }
}
