package org.djlplan.memplan.source.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.order.OrderValidator;
import org.junit.jupiter.api.Test;

class OperatorOrderEditTest {

    private static ByteBuffer apply(ByteBuffer file, OperatorOrderEdit edit) {
        ByteBuffer copy = ByteBuffer.allocate(file.limit());
        copy.put(file.duplicate()).flip();
        copy.put((int) edit.offsetBytes(), bytes(edit), 0, bytes(edit).length);
        return copy;
    }

    private static byte[] bytes(OperatorOrderEdit edit) {
        byte[] bytes = new byte[edit.bytes().sizeBytes()];
        edit.bytes().buffer().get(bytes);
        return bytes;
    }

    private static List<Integer> asItStands(TfLiteFile model) {
        return IntStream.range(0, model.main().operators().size()).boxed().toList();
    }

    /** Returns a random order that keeps all dependencies: of swaps of neighbours that may swap. */
    private static List<Integer> otherOrder(TfLiteFile model, Random random) {
        Graph graph = TfLiteGraphs.toGraph(model, "model");
        List<Integer> order = new ArrayList<>(asItStands(model));
        for (int i = 0; i < 200; i++) {
            List<Integer> swapped = new ArrayList<>(order);
            int at = random.nextInt(order.size() - 1);
            Collections.swap(swapped, at, at + 1);
            if (OrderValidator.problems(graph, swapped).isEmpty()) {
                order = swapped;
            }
        }
        return order;
    }

    @Test
    void of_anyOrderThatRuns_changesNothingButTheOrder() throws Exception {
        TfLiteFile model = SampleModels.layers();
        ByteBuffer file = TfLiteWriter.toByteBuffer(model);
        int changed = 0;
        for (int seed = 0; seed < 20; seed++) {
            List<Integer> order = otherOrder(model, new Random(seed));
            OperatorOrderEdit edit = OperatorOrderEdit.of(file, "file", order);
            TfLiteFile read = TfLiteReader.read(apply(file, edit), "copy");
            assertEquals(model.withOrder(order), read);
            changed += read.equals(model) ? 0 : 1;
        }
        assertTrue(changed > 10, changed + " orders that differ");
    }

    @Test
    void of_theOrderItHas_writesTheBytesThatAreThere() throws Exception {
        TfLiteFile model = SampleModels.everything();
        ByteBuffer file = TfLiteWriter.toByteBuffer(model);
        OperatorOrderEdit edit = OperatorOrderEdit.of(file, "file", asItStands(model));
        assertEquals(file, apply(file, edit));
    }

    @Test
    void of_operatorInsideTheVector_isRefused() throws Exception {
        TfLiteFile model = SampleModels.layers();
        ByteBuffer file = TfLiteWriter.toByteBuffer(model);
        OperatorOrderEdit edit = OperatorOrderEdit.of(file, "file", asItStands(model));
        file.putInt((int) edit.offsetBytes(), Integer.BYTES);
        TfLiteFormatException e =
                assertThrows(
                        TfLiteFormatException.class,
                        () -> OperatorOrderEdit.of(file, "file", asItStands(model)));
        assertTrue(e.getMessage().contains("lies before their vector"), e.getMessage());
    }

    @Test
    void of_tooFewOperators_isAnError() throws Exception {
        ByteBuffer file = TfLiteWriter.toByteBuffer(SampleModels.layers());
        assertThrows(
                IllegalArgumentException.class,
                () -> OperatorOrderEdit.of(file, "file", List.of(0)));
    }

    @Test
    void withOrder_readerBeforeItsWriter_isAnError() {
        TfLiteFile model = SampleModels.tiny();
        assertThrows(InvalidModelException.class, () -> model.withOrder(List.of(1, 0)));
    }
}
