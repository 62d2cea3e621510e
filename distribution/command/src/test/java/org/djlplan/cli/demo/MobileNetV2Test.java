package org.djlplan.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MobileNetV2Test {

    @TempDir Path folder;

    private final Graph graph = TfLiteGraphs.toGraph(MobileNetV2.build(1), "mobilenet_v2");

    @Test
    void build_layers_equalThePapers() {
        assertEquals(36, count("CONV_2D"));
        assertEquals(17, count("DEPTHWISE_CONV_2D"));
        assertEquals(10, count("ADD"));
        assertEquals(66, graph.operators().size());
    }

    private long count(String type) {
        return graph.operators().stream().filter(operator -> operator.type().equals(type)).count();
    }

    @Test
    void build_inputAndOutput_haveTheShapesPromised() {
        assertEquals(List.of(1, 224, 224, 3), graph.tensors().get(graph.inputs().get(0)).shape());
        assertEquals(List.of(1, 1001), graph.tensors().get(graph.outputs().get(0)).shape());
    }

    @Test
    void build_sameSeed_givesEqualModels() {
        assertEquals(MobileNetV2.build(7), MobileNetV2.build(7));
        assertNotEquals(MobileNetV2.build(7), MobileNetV2.build(8));
    }

    @Test
    void read_mobileNetV2_isEqualAndCopiesNoWeights() throws IOException {
        TfLiteFile model = MobileNetV2.build(3);
        Path file = folder.resolve("model.tflite");
        TfLiteWriter.write(model, file);
        TfLiteFile read = TfLiteReader.read(file);
        assertEquals(model, read);
        assertTrue(
                read.buffers().stream()
                        .filter(buffer -> buffer.sizeBytes() > 0)
                        .allMatch(buffer -> buffer.buffer().isDirect()));
    }
}
