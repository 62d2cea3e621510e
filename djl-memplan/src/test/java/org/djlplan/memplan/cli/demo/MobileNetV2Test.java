package org.djlplan.memplan.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.junit.jupiter.api.Test;

class MobileNetV2Test {

    private final Graph graph = TfLiteGraphs.toGraph(MobileNetV2.build(1), "mobilenet_v2");

    @Test
    void build_layers_areThoseOfThePaper() {
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
}
