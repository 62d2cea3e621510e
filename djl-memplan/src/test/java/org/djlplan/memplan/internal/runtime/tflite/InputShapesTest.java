package org.djlplan.memplan.internal.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.List;
import org.djlplan.memplan.graph.ElementType;
import org.junit.jupiter.api.Test;

/** Tests which input shapes a model accepts, and which shapes it then runs with. */
class InputShapesTest {

    private static final List<Integer> UNSAID = List.of();
    private static final List<Integer> IMAGE = List.of(1, 24, 32, 3);
    private static final List<Integer> ANY_SIZE = List.of(1, -1, -1, 3);

    private static List<Integer> effective(
            List<Integer> inFile, List<Integer> signature, List<Integer> given) {
        int elements = given.stream().reduce(1, (a, b) -> a * b);
        return run(inFile, signature, given, ByteBuffer.allocate(Math.max(0, 4 * elements)));
    }

    private static List<Integer> run(
            List<Integer> inFile, List<Integer> signature, List<Integer> given, ByteBuffer value) {
        TensorInfo input = new TensorInfo("image", ElementType.FLOAT32, inFile, 0);
        return InputShapes.effective(
                        List.of(input),
                        List.of(inFile),
                        List.of(signature),
                        List.of(value),
                        List.of(given))
                .get(0);
    }

    private static void assertRefused(
            List<Integer> inFile, List<Integer> signature, List<Integer> given) {
        IllegalArgumentException e =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> effective(inFile, signature, given),
                        given::toString);
        assertTrue(e.getMessage().contains("input image"), e.getMessage());
        assertTrue(e.getMessage().contains(given.toString()), e.getMessage());
    }

    @Test
    void effective_asInFileOrWithoutDimensionsOfOne_isAsInFile() {
        for (List<Integer> given : List.of(IMAGE, List.of(24, 32, 3), List.of(1, 1, 24, 32, 3))) {
            assertEquals(IMAGE, effective(IMAGE, UNSAID, given));
            assertEquals(IMAGE, effective(IMAGE, ANY_SIZE, given));
        }
        assertEquals(IMAGE, effective(IMAGE, UNSAID, List.of(24, 32, 1, 3)));
        assertEquals(List.of(), effective(List.of(), UNSAID, List.of(1)));
    }

    @Test
    void effective_anotherBatchOrSize_isThat() {
        for (List<Integer> given : List.of(List.of(2, 24, 32, 3), List.of(1, 12, 12, 3))) {
            assertEquals(given, effective(IMAGE, UNSAID, given));
            assertEquals(given, effective(IMAGE, ANY_SIZE, given));
        }
        assertEquals(List.of(7), effective(List.of(), UNSAID, List.of(7)), "an unknown rank");
    }

    /** The number of bytes is the same, but the model declares that it takes this shape. */
    @Test
    void effective_asManyElementsInDimensionsLeftToTheCaller_isThat() {
        for (List<Integer> given :
                List.of(List.of(1, 32, 24, 3), List.of(1, 12, 64, 3), List.of(2, 12, 32, 3))) {
            assertEquals(given, effective(IMAGE, ANY_SIZE, given));
        }
        List<Integer> row = List.of(1, 8, 1, 3);
        assertEquals(row, effective(List.of(1, 1, 8, 3), ANY_SIZE, row));
        assertEquals(List.of(1, 5), effective(List.of(1, -1), List.of(1, -1), List.of(1, 5)));
    }

    @Test
    void effective_dimensionsInAnotherOrder_isRefused() {
        for (List<Integer> given :
                List.of(List.of(1, 3, 24, 32), List.of(2, 3, 24, 32), List.of(3, 24, 32))) {
            assertRefused(IMAGE, UNSAID, given);
            assertRefused(IMAGE, ANY_SIZE, given);
        }
        assertRefused(IMAGE, UNSAID, List.of(1, 32, 24, 3));
        assertRefused(IMAGE, UNSAID, List.of(1, 12, 64, 3));
        assertRefused(List.of(4, 6), UNSAID, List.of(6, 4));
    }

    @Test
    void effective_otherRankOrFixedDimension_isRefused() {
        assertRefused(IMAGE, ANY_SIZE, List.of(1, 24, 32, 4));
        assertRefused(IMAGE, UNSAID, List.of(2304));
        assertRefused(IMAGE, UNSAID, List.of(1, 2304));
        assertRefused(IMAGE, UNSAID, List.of(48, 32, 3));
        assertRefused(IMAGE, UNSAID, List.of(2, 1, 24, 32, 3));
    }

    @Test
    void effective_noElementsOrNegative_isRefused() {
        for (List<Integer> given :
                List.of(List.of(0, 24, 32, 3), List.of(1, -24, 32, 3), List.of(1, -24, -32, 3))) {
            assertRefused(IMAGE, UNSAID, given);
            assertRefused(IMAGE, ANY_SIZE, given);
        }
    }

    @Test
    void effective_bytesAndShapeDiffer_isRefused() {
        IllegalArgumentException e =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> run(IMAGE, UNSAID, IMAGE, ByteBuffer.allocate(2304)));
        assertEquals(
                "input image is FLOAT32 of shape [1, 24, 32, 3]: 2304 bytes of shape [1, 24, 32, 3]"
                        + " were given",
                e.getMessage());
    }

    @Test
    void effective_oneResizedInput_leavesTheOthersAsInFile() {
        TensorInfo input = new TensorInfo("row", ElementType.FLOAT32, List.of(1, 2), 8);
        List<List<Integer>> inFile = List.of(List.of(1, 2), List.of(1, 2));
        List<List<Integer>> unsaid = List.of(UNSAID, UNSAID);
        ByteBuffer eight = ByteBuffer.allocate(8);
        ByteBuffer twelve = ByteBuffer.allocate(12);
        assertEquals(
                List.of(List.of(1, 2), List.of(1, 3)),
                InputShapes.effective(
                        List.of(input, input),
                        inFile,
                        unsaid,
                        List.of(eight, twelve),
                        List.of(List.of(2), List.of(1, 3))));
        assertSame(
                inFile,
                InputShapes.effective(
                        List.of(input, input),
                        inFile,
                        unsaid,
                        List.of(eight, eight),
                        List.of(List.of(2), List.of(1, 2))));
    }

    @Test
    void requireCount_others_namesTheInputs() {
        TensorInfo input = new TensorInfo("image", ElementType.FLOAT32, IMAGE, 0);
        InputShapes.requireCount(1, List.of(input));
        IllegalArgumentException e =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> InputShapes.requireCount(0, List.of(input)));
        assertEquals(
                "0 inputs were given, the model has 1: image FLOAT32[1, 24, 32, 3]",
                e.getMessage());
    }
}
