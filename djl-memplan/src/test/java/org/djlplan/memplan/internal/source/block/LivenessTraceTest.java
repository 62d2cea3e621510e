package org.djlplan.memplan.internal.source.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.djlplan.memplan.testing.RecordingSketch;
import org.junit.jupiter.api.Test;

class LivenessTraceTest {

    /** Returns when each array is closed; −1 for never. */
    private static List<Integer> closedAt(BlockRecording recording) {
        return LivenessTrace.of(recording).arrays().stream()
                .map(array -> array.closedAt().orElse(-1))
                .toList();
    }

    @Test
    void of_chain_operandClosesUponTheResult() {
        assertEquals(
                List.of(1, 2, -1),
                closedAt(
                        new RecordingSketch().read("mul").op("add", 0).op("relu", 1).returning(2)));
    }

    @Test
    void of_skipConnection_closesAfterTheLastUse() {
        assertEquals(
                List.of(3, 2, 3, -1),
                closedAt(
                        new RecordingSketch()
                                .read("mul")
                                .op("add", 0)
                                .op("relu", 1)
                                .op("add", 0, 2)
                                .returning(3)));
    }

    @Test
    void of_compositeThatReturnsTheLast_operandClosesUponThatOne() {
        assertEquals(
                List.of(3, 4, 4, 4, -1),
                closedAt(
                        new RecordingSketch()
                                .read("mul")
                                .composite("batchNorm", 3, true, 0)
                                .op("relu", 3)
                                .returning(4)));
    }

    @Test
    void of_compositeInPlace_operandClosesOnlyAfterIt() {
        assertEquals(
                List.of(3, 2, 3, -1),
                closedAt(
                        new RecordingSketch()
                                .read("mul")
                                .composite("addi", 1, false, 0)
                                .op("neg", 0)
                                .op("add", 0, 2)
                                .returning(3)));
    }

    @Test
    void of_unusedOrOnlyAskedArray_closesAtTheNextCreationOrTheEnd() {
        assertEquals(
                List.of(1, -1, 3),
                closedAt(new RecordingSketch().read("mul").read("add").read("neg").returning(1)));
    }

    @Test
    void of_keptArray_isNeverClosed() {
        assertEquals(
                List.of(-1, -1),
                closedAt(new RecordingSketch().read("zeros").op("add", 0).keep(0).returning(1)));
    }

    @Test
    void recording_useOfMissingArray_isRejected() {
        assertThrows(IllegalArgumentException.class, () -> new RecordingSketch().op("add", 1));
        assertThrows(
                IllegalArgumentException.class,
                () -> new RecordingSketch().read("mul").returning(1));
    }
}
