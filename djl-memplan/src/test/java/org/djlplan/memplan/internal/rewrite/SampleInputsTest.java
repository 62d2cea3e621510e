package org.djlplan.memplan.internal.rewrite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.junit.jupiter.api.Test;

class SampleInputsTest {

    private static SampleInputs bytes(List<Long> shape) {
        int size = (int) shape.stream().mapToLong(Long::longValue).reduce(1, (a, b) -> a * b);
        byte[] values = new byte[size];
        for (int i = 0; i < size; i++) {
            values[i] = (byte) i;
        }
        return new SampleInputs(
                List.of(new ArrayType("uint8", shape)),
                List.of(""),
                List.of(ByteBuffer.wrap(values)));
    }

    private static List<Long> shape(SampleInputs inputs) {
        return inputs.types().get(0).shape();
    }

    private static String values(SampleInputs inputs) {
        byte[] values = new byte[inputs.values().get(0).remaining()];
        inputs.values().get(0).duplicate().get(values);
        return Arrays.toString(values);
    }

    @Test
    void ofOtherBatch_repeatsTheFirstRow() {
        SampleInputs other = bytes(List.of(2L, 3L)).ofOtherBatch().orElseThrow();
        assertEquals(List.of(3L, 3L), shape(other));
        assertEquals("[0, 1, 2, 3, 4, 5, 0, 1, 2]", values(other));
    }

    @Test
    void ofOtherLength_text_cutsTheEndOff() {
        SampleInputs other = bytes(List.of(2L, 4L)).ofOtherLength().orElseThrow();
        assertEquals(List.of(2L, 3L), shape(other));
        assertEquals("[0, 1, 2, 4, 5, 6]", values(other));
    }

    @Test
    void ofOtherLength_image_cutsBothSides() {
        SampleInputs other = bytes(List.of(1L, 2L, 4L, 4L)).ofOtherLength().orElseThrow();
        assertEquals(List.of(1L, 2L, 3L, 3L), shape(other));
        assertEquals(
                "[0, 1, 2, 4, 5, 6, 8, 9, 10, 16, 17, 18, 20, 21, 22, 24, 25, 26]", values(other));
    }

    @Test
    void ofOneImage_batch_isItsFirstImage() {
        SampleInputs one = bytes(List.of(2L, 1L, 2L, 2L)).ofOneImage().orElseThrow();
        assertEquals(List.of(1L, 2L, 2L), shape(one));
        assertEquals("[0, 1, 2, 3]", values(one));
        assertEquals(Optional.empty(), bytes(List.of(2L, 4L)).ofOneImage());
    }

    @Test
    void ofOtherLength_oneToken_becomesTwo() {
        SampleInputs other = bytes(List.of(2L, 1L)).ofOtherLength().orElseThrow();
        assertEquals(List.of(2L, 2L), shape(other));
        assertEquals("[0, 0, 1, 1]", values(other));
    }

    @Test
    void ofOtherBatch_scalar_isNone() {
        assertEquals(Optional.empty(), bytes(List.of()).ofOtherBatch());
        assertEquals(Optional.empty(), bytes(List.of(4L)).ofOtherLength());
    }

    @Test
    void measured_manyShapes_areTheMostFrequent() {
        List<Frequent> all =
                List.of(
                        new Frequent(bytes(List.of(1L)), 3),
                        new Frequent(bytes(List.of(2L)), 1),
                        new Frequent(bytes(List.of(3L)), 9),
                        new Frequent(bytes(List.of(4L)), 4),
                        new Frequent(bytes(List.of(5L)), 2));
        SampledRequests requests = new SampledRequests(all);
        assertEquals(
                List.of(9L, 4L, 3L, 2L),
                requests.measured().stream().map(Frequent::predictions).toList());
    }

    @Test
    void toString_hasNoValues() {
        SampleInputs inputs = bytes(List.of(1L, 3L));
        assertFalse(inputs.toString().contains("java.nio"), inputs.toString());
        assertEquals("[1x3:uint8]", inputs.toString());
    }
}
