package org.djlplan.memplan.internal.usage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.testing.GraphSketch;
import org.junit.jupiter.api.Test;

class UsageRecordsTest {

    @Test
    void of_chain_givesIntermediatesOnly() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(1, 4);
        int weights = sketch.tensor(ElementType.FLOAT32, Storage.CONSTANT, 4, 4);
        int state = sketch.tensor(ElementType.FLOAT32, Storage.VARIABLE, 4);
        int kept = sketch.tensor(ElementType.FLOAT32, Storage.ENGINE, 4);
        int a = sketch.tensor(1, 16);
        int b = sketch.tensor(1, 17);
        int output = sketch.tensor(1, 4);
        sketch.operator("FULLY_CONNECTED", a, input, weights)
                .operator("SVDF", b, a, state, kept)
                .operator("ADD", output, a, b)
                .output(output);

        assertEquals(
                List.of(new UsageRecord(a, 0, 2, 64), new UsageRecord(b, 1, 2, 128)),
                UsageRecords.of(sketch.build()));
    }

    @Test
    void of_temporary_livesAtItsOperatorOnly() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(1);
        int a = sketch.tensor(1);
        int output = sketch.tensor(1);
        int scratch = sketch.tensor(100);
        sketch.operator("CONV_2D", a, input)
                .operator("CONV_2D", List.of(a), List.of(output), List.of(scratch))
                .output(output);

        assertTrue(UsageRecords.of(sketch.build()).contains(new UsageRecord(scratch, 1, 1, 448)));
    }

    @Test
    void of_unusedOrUnsized_givesNone() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(1);
        sketch.tensor(8);
        int unsized = sketch.tensor(ElementType.FLOAT32, Storage.INTERMEDIATE, 0, List.of(-1));
        int output = sketch.tensor(1);
        sketch.operator("WHERE", unsized, input).operator("SUM", output, unsized).output(output);

        assertEquals(List.of(), UsageRecords.of(sketch.build()));
    }

    @Test
    void alignedBytes_edges_roundUp() {
        assertEquals(0, UsageRecords.alignedBytes(0));
        assertEquals(64, UsageRecords.alignedBytes(1));
        assertEquals(64, UsageRecords.alignedBytes(64));
        assertEquals(128, UsageRecords.alignedBytes(65));
        assertThrows(ArithmeticException.class, () -> UsageRecords.alignedBytes(Long.MAX_VALUE));
    }

    @Test
    void naiveBytes_overflow_saysWhatWasAdded() {
        List<UsageRecord> records =
                List.of(new UsageRecord(0, 0, 0, Long.MAX_VALUE), new UsageRecord(1, 1, 1, 64));
        ArithmeticException thrown =
                assertThrows(ArithmeticException.class, () -> UsageRecords.naiveBytes(records));
        assertTrue(thrown.getMessage().contains("9223372036854775807 + 64"), thrown::getMessage);
    }
}
