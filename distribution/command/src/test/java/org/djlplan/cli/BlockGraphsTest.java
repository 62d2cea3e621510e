package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.memplan.testing.RecordingSketch;
import org.junit.jupiter.api.Test;

class BlockGraphsTest {

    private static final long ALIGNED_BYTES = 64;

    private static List<String> types(Graph graph) {
        return graph.operators().stream().map(Operator::type).toList();
    }

    @Test
    void of_chain_tensorsAreInputThenCreations() {
        Graph graph =
                BlockGraphs.of(
                        "chain", new RecordingSketch().read("mul").op("relu", 0).returning(1));
        assertEquals(List.of("mul", "relu"), types(graph));
        assertEquals(List.of(0), graph.inputs());
        assertEquals(List.of(2), graph.outputs());
        assertEquals(3, graph.tensors().size());
        assertEquals(ElementType.FLOAT32, graph.tensors().get(1).type());
        assertEquals(24, graph.tensors().get(1).bytes());
        assertEquals(List.of(new UsageRecord(1, 0, 1, ALIGNED_BYTES)), UsageRecords.of(graph));
    }

    @Test
    void of_view_prolongsItsBase() {
        Graph graph =
                BlockGraphs.of(
                        "view",
                        new RecordingSketch()
                                .read("mul")
                                .op("reshape", 0)
                                .op("relu", 0)
                                .op("add", 1, 2)
                                .returning(3));
        assertEquals(List.of("mul", "relu", "add"), types(graph));
        assertEquals(
                List.of(
                        new UsageRecord(1, 0, 2, ALIGNED_BYTES),
                        new UsageRecord(2, 1, 2, ALIGNED_BYTES)),
                UsageRecords.of(graph));
    }

    @Test
    void of_reshapeOfPermuted_isACopy() {
        Graph graph =
                BlockGraphs.of(
                        "copy",
                        new RecordingSketch()
                                .read("mul")
                                .op("transpose", 0)
                                .op("reshape", 1)
                                .op("add", 2)
                                .returning(3));
        assertEquals(List.of("mul", "reshape", "add"), types(graph));
        assertEquals(4, graph.tensors().size());
    }

    @Test
    void of_compositesOwnArrays_areLeftOut() {
        Graph graph =
                BlockGraphs.of(
                        "composite",
                        new RecordingSketch()
                                .read("mul")
                                .composite("batchNorm", 3, true, 0)
                                .op("relu", 3)
                                .returning(4));
        assertEquals(4, graph.tensors().size());
        assertEquals(List.of(2), graph.operators().get(1).outputs());
    }

    @Test
    void of_keptArray_belongsToTheEngine() {
        Graph graph =
                BlockGraphs.of(
                        "kept",
                        new RecordingSketch().read("zeros").op("add", 0).keep(0).returning(1));
        assertEquals(Storage.ENGINE, graph.tensors().get(1).storage());
        assertEquals(List.of(), UsageRecords.of(graph));
    }

    @Test
    void of_parameter_namesTheArraysComputedWithIt() {
        Graph graph =
                BlockGraphs.of(
                        "named",
                        new RecordingSketch()
                                .read("mul")
                                .weighted("linear", 0)
                                .op("relu", 1)
                                .returning(2));
        assertEquals(
                List.of("", RecordingSketch.PARAMETER, "", "01inner/02Linear", ""),
                graph.tensors().stream().map(Tensor::name).toList());
    }

    @Test
    void of_questionsToArrays_areNoOperators() {
        Graph graph =
                BlockGraphs.of(
                        "questions",
                        new RecordingSketch()
                                .read("mul")
                                .composite("getShape", 0, false, 0)
                                .composite("addi", 0, false, 0)
                                .op("relu", 0)
                                .returning(1));
        assertEquals(List.of("mul", "addi", "relu"), types(graph));
    }
}
