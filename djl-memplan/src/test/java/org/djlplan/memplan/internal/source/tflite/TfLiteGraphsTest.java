package org.djlplan.memplan.internal.source.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.junit.jupiter.api.Test;

class TfLiteGraphsTest {

    private final Graph graph = TfLiteGraphs.toGraph(SampleModels.everything(), "everything");

    @Test
    void toGraph_operators_carryTfLitesNamesAndNoAbsentInputs() {
        assertEquals(
                List.of(
                        new Operator(0, "WHILE", List.of(0), List.of(3), List.of()),
                        new Operator(
                                1,
                                "CUSTOM:MyOperator",
                                List.of(3, 1, 2, 4),
                                List.of(5, 6),
                                List.of())),
                graph.operators());
        assertEquals(List.of(0), graph.inputs());
        assertEquals(List.of(5, 6), graph.outputs());
    }

    @Test
    void toGraph_tensors_haveTheStorageTheFileImplies() {
        assertEquals(
                List.of(
                        Storage.INTERMEDIATE,
                        Storage.CONSTANT,
                        Storage.VARIABLE,
                        Storage.INTERMEDIATE,
                        Storage.ENGINE,
                        Storage.ENGINE,
                        Storage.ENGINE),
                graph.tensors().stream().map(Tensor::storage).toList());
        assertEquals(
                List.of(2L, 16L, 12L, 4L, 0L, 0L, 0L),
                graph.tensors().stream().map(Tensor::bytes).toList());
    }

    @Test
    void toGraph_tensorOfUnknownSize_keepsItsShape() {
        assertEquals(
                new Tensor(
                        5,
                        "dynamic",
                        ElementType.FLOAT32,
                        List.of(-1, 3),
                        0,
                        Storage.ENGINE,
                        Optional.empty()),
                graph.tensors().get(5));
    }

    @Test
    void toGraph_constantOfAFile_hasItsPosition() throws IOException {
        TfLiteFile file = TfLiteReader.read(SampleModels.tinyFile(), "tiny");
        Tensor weights = TfLiteGraphs.toGraph(file, "tiny").tensors().get(1);
        assertEquals(Storage.CONSTANT, weights.storage());
        assertEquals(file.buffers().get(1).region(), weights.region());
        assertEquals(3 * 3 * 3 * 2 * 4, weights.region().orElseThrow().lengthBytes());
    }
}
