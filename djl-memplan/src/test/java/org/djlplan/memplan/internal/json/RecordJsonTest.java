package org.djlplan.memplan.internal.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SortedSet;
import java.util.TreeSet;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecordJsonTest {

    private enum Colour {
        RED
    }

    private sealed interface Shape {}

    private record Circle(double radius) implements Shape {

        Circle {
            if (!(radius >= 0)) {
                throw new IllegalArgumentException("radius: " + radius);
            }
        }
    }

    private record Square(int side, Optional<Colour> colour) implements Shape {}

    private record Plain(int side, Optional<Colour> colour) {}

    private record Everything(
            String text,
            long number,
            boolean flag,
            Optional<Shape> shape,
            List<Shape> shapes,
            List<SortedSet<Integer>> sets,
            Map<String, String> map,
            ImmutableLongArray longs,
            OptionalDouble fraction,
            Path path,
            ByteBuffer bytes) {}

    private static Everything everything(Optional<Shape> shape, OptionalDouble fraction) {
        return new Everything(
                "a \"text\"\n\u2028",
                Long.MAX_VALUE,
                true,
                shape,
                List.of(new Circle(1), new Square(2, Optional.empty())),
                List.of(new TreeSet<>(List.of(3, 1)), new TreeSet<>()),
                Map.of("a", "b"),
                ImmutableLongArray.of(Long.MIN_VALUE, 7),
                fraction,
                Path.of("a folder"),
                ByteBuffer.wrap(new byte[] {0, -1, 7}));
    }

    @Test
    void read_written_isEqual() {
        for (Everything value :
                List.of(
                        everything(Optional.empty(), OptionalDouble.empty()),
                        everything(Optional.of(new Circle(1.0 / 3)), OptionalDouble.of(1e-300)),
                        everything(Optional.of(new Circle(1 / 0.0)), OptionalDouble.of(1 / 0.0)),
                        everything(
                                Optional.of(new Square(4, Optional.of(Colour.RED))),
                                OptionalDouble.of(0)))) {
            String text = RecordJson.text(value);
            assertEquals(1, text.lines().count());
            assertEquals(
                    value, RecordJson.read(JsonParser.parseString(text), Everything.class), text);
        }
    }

    @Test
    void text_sealedType_namesTheRecord() {
        assertEquals(
                "{\"side\":4,\"colour\":\"RED\"}",
                RecordJson.text(new Plain(4, Optional.of(Colour.RED))));
        assertEquals(
                "{\"Square\":{\"side\":4,\"colour\":null}}",
                RecordJson.text(new Square(4, Optional.empty())));
        assertTrue(
                RecordJson.text(everything(Optional.of(new Circle(2)), OptionalDouble.empty()))
                        .contains("\"shape\":{\"Circle\":{\"radius\":\"2.0\"}},"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "7",
                "[]",
                "{}",
                "{\"side\":4}",
                "{\"colour\":null,\"side\":4}",
                "{\"side\":null,\"colour\":null}",
                "{\"side\":4,\"colour\":null,\"more\":1}",
                "{\"side\":4,\"colour\":\"GREEN\"}",
                "{\"side\":4,\"colour\":[]}",
                "{\"side\":\"four\",\"colour\":null}",
            })
    void read_somethingElse_throwsRuntimeException(String text) {
        assertThrows(
                RuntimeException.class,
                () -> RecordJson.read(JsonParser.parseString(text), Plain.class));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"Circle\":{\"radius\":\"NaN\"}} | radius: NaN",
                "{\"Circle\":{\"radius\":\"-1\"}} | radius: -1",
                "{\"Circle\":{\"diameter\":\"1\"}} | diameter in place of radius",
                "{\"Circle\":null} | null",
                "{\"Everything\":{}} | no type Everything",
            })
    void read_wrongSealedType_throwsWithTheReason(String text, String reason) {
        String message =
                assertThrows(
                                RuntimeException.class,
                                () -> RecordJson.read(JsonParser.parseString(text), Shape.class))
                        .toString();
        assertTrue(message.contains(reason) || reason.equals("null"), message);
    }
}
