package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import java.util.List;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.BlockRecording;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

class ForeignArraysTest {

    private final NDArray image = FakeArrays.array(DataType.FLOAT32, 2, 3);
    private final NDArray mask = FakeArrays.array(DataType.INT8, 2);

    /** An array with the same content as the mask, but another one. */
    private final NDArray parameter = FakeArrays.array(DataType.INT8, 2);

    private static BlockRecording.Array kept(String type, Long... shape) {
        return new BlockRecording.Array(new ArrayType(type, List.of(shape)), true, "");
    }

    @Test
    void number_inputsComeFirstAndOthersInOrderOfTheirUse() {
        ForeignArrays foreign = new ForeignArrays(List.of(image, mask));
        assertEquals(2, foreign.number(parameter));
        assertEquals(1, foreign.number(mask));
        assertEquals(0, foreign.number(image));
        assertEquals(2, foreign.number(parameter));
        assertEquals(2, foreign.inputCount());
        assertEquals(
                List.of(kept("float32", 2L, 3L), kept("int8", 2L), kept("int8", 2L)),
                foreign.all());
    }

    @Test
    void inputCount_sameArrayTwice_isOneInput() {
        ForeignArrays foreign = new ForeignArrays(List.of(mask, mask));
        assertEquals(1, foreign.inputCount());
        assertEquals(1, foreign.number(image));
    }
}
