package org.djlplan.memplan.internal.source.tflite;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

class StringsCheckTest {

    private static final int STRING = 5;
    private static final int BYTES = 20;

    /** A model with a constant of strings: 20 bytes that begin with these numbers. */
    private static TfLiteFile model(List<Integer> shape, int bytes, int... numbers) {
        ByteBuffer content = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        content.asIntBuffer().put(numbers);
        List<TfLiteTensor> tensors = List.of(TfLiteTensor.plain(shape, STRING, 1, "text"));
        return SampleModels.file(
                List.of(),
                List.of(TfLiteBytes.EMPTY, TfLiteBytes.of(content.limit(bytes))),
                new TfLiteSubgraph("main", tensors, List.of(), List.of(0), List.of()));
    }

    private static String problem(List<Integer> shape, int bytes, int... numbers) {
        InvalidModelException refused =
                assertThrows(InvalidModelException.class, () -> model(shape, bytes, numbers));
        assertEquals("subgraphs[0].tensors[0].buffer", refused.path());
        return refused.problem();
    }

    @Test
    void check_stringsInsideTheContent_areAccepted() {
        assertDoesNotThrow(() -> model(List.of(2), BYTES, 2, 16, 18, 20));
        assertDoesNotThrow(() -> model(List.of(), BYTES, 2, 16, 16, 16));
        assertDoesNotThrow(() -> model(List.of(3, 0), 4, 0));
    }

    @Test
    void check_offsetOutsideTheContent_isRefused() {
        assertEquals("has a string at byte 15", problem(List.of(2), BYTES, 2, 15, 18, 20));
        assertEquals("has a string at byte 17", problem(List.of(2), BYTES, 2, 18, 17, 20));
        assertEquals("has a string at byte 21", problem(List.of(2), BYTES, 2, 16, 18, 21));
        assertEquals("has a string at byte -1", problem(List.of(2), BYTES, 2, -1, 18, 20));
    }

    @Test
    void check_fewerStringsThanTheShapeNeeds_isRefused() {
        assertTrue(problem(List.of(3), BYTES, 2, 16, 18, 20).startsWith("holds 2 strings"));
        assertTrue(problem(List.of(), BYTES, 0).startsWith("holds 0 strings"));
        assertTrue(problem(List.of(0), BYTES, -1).startsWith("holds -1 strings"));
        List<Integer> huge = List.of(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);
        assertTrue(problem(huge, BYTES, 2, 16, 18, 20).startsWith("holds 2 strings"));
    }

    @Test
    void check_contentWithoutRoomForTheOffsets_isRefused() {
        assertTrue(problem(List.of(2), 3, 2).startsWith("holds 3 bytes"));
        assertTrue(problem(List.of(2), 12, 2, 16, 18, 20).contains("too few for 2 offsets"));
        assertTrue(problem(List.of(2), BYTES, 1 << 30).contains("too few for 1073741824 offsets"));
    }
}
