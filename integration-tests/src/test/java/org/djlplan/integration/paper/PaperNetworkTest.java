package org.djlplan.integration.paper;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Compares the layer tables with published figures. Figures of a TFLite or MediaPipe file were read
 * from the file itself.
 */
class PaperNetworkTest {

    /** Elsewhere batch normalization has more numbers per channel; here only a bias is left. */
    private static final long MOBILENET_V1_CHANNELS = 10_944;

    private static final long MOBILENET_V2_CHANNELS = 17_056;
    private static final long INCEPTION_V3_CHANNELS = 17_216;

    @ParameterizedTest
    @CsvSource({
        // As in slim and TFLite: the classifier is a convolution, then reshape and softmax.
        "MOBILENET_V1, 31, 30",
        "MOBILENET_V2, 66, 65",
        // deeplabv3_257_mv_gpu.tflite has 70.
        "DEEPLAB_V3, 70, 69",
        // 95 convolutions, 14 poolings, 15 concatenations, reshape, softmax.
        "INCEPTION_V3, 126, 125",
        // Four outputs.
        "POSENET, 31, 27",
        // face_detection_front.tflite has 90, two of which write outputs.
        "BLAZEFACE, 90, 88",
    })
    void graph_operatorsAndPlannedTensors_asPublished(
            PaperNetwork network, int operators, int tensors) {
        assertEquals(operators, network.sketch().graph().operators().size());
        assertEquals(tensors, network.sketch().problem().records().size());
    }

    @Test
    void mobileNetV1_parametersAndMultiplyAdds_asInSlim() {
        // research/slim/nets/mobilenet_v1.py, header: the base, without biases.
        NetworkSketch sketch = PaperNetwork.MOBILENET_V1.sketch();
        long classifier = 1024 * 1001;
        assertEquals(3_185_088 + MOBILENET_V1_CHANNELS + classifier + 1001, sketch.parameters());
        assertEquals(567_716_352 + classifier, sketch.multiplyAdds());
        // Howard et al. 2017, table 4 (1.0 MobileNet-224): 569 million, 4.2 million.
        assertEquals(569, Math.round(sketch.multiplyAdds() / 1e6));
        assertEquals(42, Math.round(sketch.parameters() / 1e5));
    }

    @Test
    void mobileNetV2_parametersAndMultiplyAdds_asPublished() {
        NetworkSketch sketch = PaperNetwork.MOBILENET_V2.sketch();
        // torchvision, MobileNet_V2_Weights: 3504872 with 1000 classes, .301 billion.
        assertEquals(3_504_872 - MOBILENET_V2_CHANNELS + 1280 + 1, sketch.parameters());
        assertEquals(301, Math.round(sketch.multiplyAdds() / 1e6));
    }

    @Test
    void inceptionV3_parametersAndMultiplyAdds_asPublished() {
        NetworkSketch sketch = PaperNetwork.INCEPTION_V3.sketch();
        // research/slim/nets/inception_v3_test.py: 21802784 up to Mixed_7c, with mean and variance.
        assertEquals(
                21_802_784 - 2 * INCEPTION_V3_CHANNELS + 2048 * 1001 + 1001, sketch.parameters());
        // torchvision, Inception_V3_Weights: 5.713 billion.
        assertEquals(5713, Math.round(sketch.multiplyAdds() / 1e6));
    }

    @Test
    void inceptionV3_shapes_asInSlim() {
        // research/slim/nets/inception_v3_test.py, testBuildAndCheckAllEndPointsUptoMixed7c.
        List<ImmutableList<Integer>> shapes = PaperNetwork.INCEPTION_V3.sketch().outputShapes();
        List<List<Integer>> stem =
                List.of(
                        List.of(1, 149, 149, 32),
                        List.of(1, 147, 147, 32),
                        List.of(1, 147, 147, 64),
                        List.of(1, 73, 73, 64),
                        List.of(1, 73, 73, 80),
                        List.of(1, 71, 71, 192),
                        List.of(1, 35, 35, 192));
        assertEquals(stem, shapes.subList(0, stem.size()));
        Graph graph = PaperNetwork.INCEPTION_V3.sketch().graph();
        // Without the concatenations inside a branch.
        List<List<Integer>> mixed =
                graph.operators().stream()
                        .filter(o -> o.type().equals("CONCATENATION"))
                        .<List<Integer>>map(o -> shapes.get(o.index()))
                        .filter(shape -> !shape.equals(List.of(1, 8, 8, 2 * 384)))
                        .toList();
        assertEquals(
                List.of(
                        List.of(1, 35, 35, 256),
                        List.of(1, 35, 35, 288),
                        List.of(1, 35, 35, 288),
                        List.of(1, 17, 17, 768),
                        List.of(1, 17, 17, 768),
                        List.of(1, 17, 17, 768),
                        List.of(1, 17, 17, 768),
                        List.of(1, 17, 17, 768),
                        List.of(1, 8, 8, 1280),
                        List.of(1, 8, 8, 2048),
                        List.of(1, 8, 8, 2048)),
                mixed);
    }

    @Test
    void deepLabV3_figures_asInTheHostedFile() {
        // deeplabv3_257_mv_gpu.tflite, 2,779,264 bytes: sum of its constants, its own tensors.
        NetworkSketch sketch = PaperNetwork.DEEPLAB_V3.sketch();
        assertEquals(688_357, sketch.parameters());
        assertBytes(sketch, 51_083_200, 4_530_240, 6_401_088);
        assertEquals(List.of(1, 33, 33, 160), sketch.outputShapes().get(60));
        assertEquals(List.of(1, 33, 33, 512), sketch.outputShapes().get(65));
        assertEquals(List.of(1, 257, 257, 21), sketch.outputShapes().get(69));
    }

    @Test
    void poseNet_outputsAndParameters_asPublished() {
        // Posenet.kt of TensorFlow's Android example, initOutputMap.
        NetworkSketch sketch = PaperNetwork.POSENET.sketch();
        List<List<Integer>> outputs =
                sketch.graph().outputs().stream()
                        .map(id -> sketch.graph().tensors().get(id).shape())
                        .toList();
        assertEquals(
                List.of(
                        List.of(1, 9, 9, 17),
                        List.of(1, 9, 9, 34),
                        List.of(1, 9, 9, 32),
                        List.of(1, 9, 9, 32)),
                outputs);
        assertEquals(List.of(1, 129, 129, 32), sketch.outputShapes().get(0));
        // The base as in slim's mobilenet_v1.py, then 1024 weights and a bias per output channel.
        assertEquals(
                3_185_088 + MOBILENET_V1_CHANNELS + 1025 * (17 + 34 + 32 + 32),
                sketch.parameters());
    }

    @Test
    void blazeFace_figures_asInTheFile() {
        // face_detection_front.tflite, 423,256 bytes: sum of its constants, its own tensors.
        NetworkSketch sketch = PaperNetwork.BLAZEFACE.sketch();
        assertEquals(101_390, sketch.parameters());
        assertBytes(sketch, 9_640_960, 1_376_256, 1_402_368);
    }

    @Test
    @NeedsModels(RealModels.TFLITE)
    void blazeFace_operators_asInTheSameNetworkOf16BitWeights() throws Exception {
        Path file = RealModels.TFLITE.file("face_detection_short_range");
        Graph real = TfLiteGraphs.toGraph(TfLiteReader.read(file), "real");
        assertEquals(
                layers(real).filter(layer -> !layer.startsWith("DEQUANTIZE")).toList(),
                layers(PaperNetwork.BLAZEFACE.sketch().graph()).toList());
    }

    @ParameterizedTest
    @CsvSource({"MOBILENET_V1, mobilenet_v1", "MOBILENET_V2, mobilenet_v2"})
    void records_networkThatIsBuiltAsFile_same(PaperNetwork network, String built)
            throws Exception {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(TestModels.built(built)), built);
        assertEquals(usages(UsageRecords.of(graph)), usages(network.sketch().problem().records()));
        assertEquals(
                graph.operators().stream().map(Operator::type).toList(),
                network.sketch().graph().operators().stream()
                        .map(o -> o.type().equals("RESHAPE") ? "SQUEEZE" : o.type())
                        .toList());
    }

    private static void assertBytes(NetworkSketch sketch, long naive, long offsets, long shared) {
        List<UsageRecord> records = sketch.problem().records();
        assertEquals(naive, UsageRecords.naiveBytes(records));
        assertEquals(offsets, LowerBounds.offsetBytes(records));
        assertEquals(shared, LowerBounds.sharedObjectBytes(records));
    }

    private static Stream<String> layers(Graph graph) {
        return graph.operators().stream()
                .map(o -> o.type() + graph.tensors().get(o.outputs().get(0)).shape());
    }

    private static List<String> usages(List<UsageRecord> records) {
        return records.stream()
                .map(r -> r.first() + " to " + r.last() + ": " + r.bytes())
                .sorted()
                .toList();
    }
}
