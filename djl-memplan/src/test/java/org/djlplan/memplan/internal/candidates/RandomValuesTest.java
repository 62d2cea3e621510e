package org.djlplan.memplan.internal.candidates;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RandomValuesTest {

    private static final int SIDE = 36;

    private static final Graph IMAGE = graph(ElementType.FLOAT32, 1, SIDE, SIDE, 2);

    private static Graph graph(ElementType type, Integer... shape) {
        long elements = 1;
        for (int extent : shape) {
            elements *= extent;
        }
        Tensor input =
                new Tensor(
                        0,
                        "input",
                        type,
                        List.of(shape),
                        elements * type.bytes(),
                        Storage.INTERMEDIATE,
                        Optional.empty());
        return new Graph("inputs", List.of(), List.of(input), List.of(0), List.of());
    }

    private static FloatBuffer floats(List<ByteBuffer> values) {
        return values.get(0).duplicate().order(ByteOrder.nativeOrder()).asFloatBuffer();
    }

    private static List<Float> floatsOf(List<ByteBuffer> values) {
        FloatBuffer floats = floats(values);
        List<Float> all = new ArrayList<>();
        while (floats.hasRemaining()) {
            all.add(floats.get());
        }
        return all;
    }

    /** Returns the largest difference of a value and its right neighbour in the same channel. */
    private static float roughest(List<ByteBuffer> values) {
        FloatBuffer floats = floats(values);
        float most = 0;
        for (int i = 0; i + 2 < floats.capacity(); i++) {
            if (i / 2 % SIDE < SIDE - 1) {
                most = Math.max(most, Math.abs(floats.get(i + 2) - floats.get(i)));
            }
        }
        return most;
    }

    @Test
    void of_sameSeed_isTheSameAndOfAnotherIsNot() {
        assertEquals(RandomValues.of(IMAGE, 1), RandomValues.of(IMAGE, 1));
        assertNotEquals(RandomValues.of(IMAGE, 1), RandomValues.of(IMAGE, 2));
        assertEquals(RandomValues.smooth(IMAGE, 1), RandomValues.smooth(IMAGE, 1));
        assertNotEquals(RandomValues.smooth(IMAGE, 1), RandomValues.smooth(IMAGE, 2));
    }

    @Test
    void of_eachType_fillsTheTensorFromItsBeginning() {
        for (ElementType type : ElementType.values()) {
            Graph graph = graph(type, 3, 5);
            ByteBuffer value = RandomValues.of(graph, 1).get(0);
            assertEquals(0, value.position(), type::toString);
            assertEquals(graph.tensors().get(0).bytes(), value.remaining(), type::toString);
        }
    }

    /** Larger values would not be numbers of words. */
    @Test
    void of_wideIntegers_areSmallAndAllSmallOnesCome() {
        ByteBuffer ints = RandomValues.of(graph(ElementType.INT32, 500), 1).get(0);
        ints.order(ByteOrder.nativeOrder());
        int[] seen = new int[10];
        while (ints.hasRemaining()) {
            seen[ints.getInt()]++;
        }
        assertTrue(IntStream.of(seen).allMatch(count -> count > 0));
    }

    @Test
    void smooth_image_isSofterThanNoiseAndInItsRange() {
        List<ByteBuffer> smooth = RandomValues.smooth(IMAGE, 1);
        assertTrue(floatsOf(smooth).stream().allMatch(x -> x >= 0 && x < 1));
        // Six spots in 36 pixels: from one to the next in six steps.
        assertTrue(roughest(smooth) <= 1f / 6 + 1e-6f, () -> "" + roughest(smooth));
        assertTrue(roughest(RandomValues.of(IMAGE, 1)) > 0.5f);
    }

    @Test
    void smooth_noImage_isNoise() {
        for (Graph graph :
                List.of(
                        graph(ElementType.FLOAT32, 2, 8, 8, 3),
                        graph(ElementType.FLOAT32, 8, 8),
                        graph(ElementType.UINT8, 1, 8, 8, 3))) {
            assertEquals(RandomValues.of(graph, 1), RandomValues.smooth(graph, 1));
        }
    }

    @Test
    void kinds_includeZerosNegativeNumbersAndPixelsUpTo255() {
        List<float[]> ranges = new ArrayList<>();
        for (List<ByteBuffer> input : RandomValues.kinds(List.of(IMAGE), false)) {
            List<Float> floats = floatsOf(input);
            ranges.add(new float[] {Collections.min(floats), Collections.max(floats)});
        }
        assertEquals(5, ranges.size());
        assertArrayEquals(new float[2], ranges.get(2));
        assertArrayEquals(new float[] {-1, 1}, ranges.get(3), 0.1f);
        assertArrayEquals(new float[] {0, 255}, ranges.get(4), 10);
    }

    /** The smallest float above 0 would change nothing. */
    @Test
    void moved_zeros_changeLikeNumbersBelowOne() {
        List<ByteBuffer> zeros = RandomValues.kinds(List.of(IMAGE), false).get(2);
        for (float after : floatsOf(RandomValues.moved(IMAGE, zeros, false, new Random(1)))) {
            assertEquals(0x1p-24f, Math.abs(after), 0x1p-40f);
        }
    }

    @Test
    void moved_floats_areTheNeighboursOnBothSides() {
        List<ByteBuffer> values = RandomValues.of(IMAGE, 1);
        List<Float> before = floatsOf(values);
        List<Float> after = floatsOf(RandomValues.moved(IMAGE, values, false, new Random(1)));
        assertEquals(before.size(), after.size());
        int up = 0;
        for (int i = 0; i < before.size(); i++) {
            float x = before.get(i);
            if (after.get(i) == Math.nextUp(x)) {
                up++;
            } else {
                assertEquals(Math.nextDown(x), after.get(i));
            }
        }
        assertTrue(up > 0 && up < before.size(), up + " of " + before.size());
        assertEquals(before, floatsOf(values), "the values themselves stay");
    }

    @ParameterizedTest
    @CsvSource({"INT8,-128,127", "UINT8,0,255"})
    void moved_bytes_areOneStepOffWithinTheirRange(ElementType type, int least, int most) {
        Graph graph = graph(type, 4096);
        List<ByteBuffer> values = RandomValues.of(graph, 1);
        ByteBuffer moved = RandomValues.moved(graph, values, false, new Random(1)).get(0);
        int up = 0;
        for (int i = 0; i < moved.remaining(); i++) {
            int before = values.get(0).get(i) & (most > Byte.MAX_VALUE ? 0xff : -1);
            int after = moved.get(i) & (most > Byte.MAX_VALUE ? 0xff : -1);
            assertEquals(1, Math.abs(after - before));
            assertTrue(after >= least && after <= most);
            up += after > before ? 1 : 0;
        }
        assertTrue(up > 1024 && up < 3072, up + " up");
    }

    @ParameterizedTest
    @CsvSource({"UINT8,FLOAT32,false", "INT8,INT8,true", "INT8,INT32,true", "FLOAT32,INT8,true"})
    void moves_bytes_onlyWhereNoOutputIsFloatingPoint(
            ElementType input, ElementType output, boolean expected) {
        Tensor in = graph(input, 4).tensors().get(0);
        Tensor out =
                new Tensor(
                        1,
                        "output",
                        output,
                        List.of(4),
                        4L * output.bytes(),
                        Storage.INTERMEDIATE,
                        Optional.empty());
        Graph model = new Graph("model", List.of(), List.of(in, out), List.of(0), List.of(1));
        assertEquals(expected, RandomValues.moves(model, input, false));
    }

    @Test
    void moved_floatsInSteps_byHalfAStepOfTheLargest() {
        List<ByteBuffer> values = RandomValues.of(IMAGE, 1);
        List<Float> before = floatsOf(values);
        List<Float> after = floatsOf(RandomValues.moved(IMAGE, values, true, new Random(1)));
        float step = Collections.max(before) / 127;
        double furthest = 0;
        for (int i = 0; i < before.size(); i++) {
            furthest = Math.max(furthest, Math.abs(after.get(i) - before.get(i)));
        }
        assertTrue(furthest <= step / 2 + 1e-6 && furthest > .4 * step, furthest + " of " + step);
        assertTrue(RandomValues.moves(graph(ElementType.UINT8, 4), ElementType.UINT8, true));
    }

    @Test
    void moved_wideIntegers_stay() {
        Graph graph = graph(ElementType.INT32, 64);
        List<ByteBuffer> values = RandomValues.of(graph, 1);
        assertEquals(values, RandomValues.moved(graph, values, false, new Random(1)));
    }
}
