package org.djlplan.integration.tflite.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.TranslatorContext;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.integration.networks.BlazeFace;
import org.djlplan.integration.networks.ElementwiseChains;
import org.djlplan.integration.networks.Inception;
import org.djlplan.integration.networks.MobileNetV1;
import org.djlplan.integration.networks.PackedWeights;
import org.djlplan.integration.networks.ResNet;
import org.djlplan.integration.networks.Vgg;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that the generated networks run in the stock engine, with finite outputs that depend on the
 * input.
 */
class NetworksRunTest {

    private static final IntFunction<ByteBuffer> HEAP = ByteBuffer::allocate;

    @TempDir Path folder;

    static Stream<Arguments> networks() {
        return Stream.of(
                Arguments.of("mobilenet_v1", MobileNetV1.build(1), List.of(1001)),
                Arguments.of("mobilenet_v2", MobileNetV2.build(1), List.of(1001)),
                Arguments.of("blaze_face", BlazeFace.build(1), List.of(896 * 16, 896)),
                Arguments.of("inception", Inception.build(1), List.of(100)),
                Arguments.of("chains", ElementwiseChains.build(1), List.of(64 * 64 * 3, 10)),
                Arguments.of("resnet", ResNet.SMALL.build(1, HEAP), List.of(100)),
                Arguments.of("vgg", Vgg.SMALL.build(1, HEAP), List.of(100)),
                Arguments.of(
                        "packed", PackedWeights.of(Vgg.SMALL.build(1, HEAP), HEAP), List.of(100)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("networks")
    void predict_writtenNetwork_givesFiniteOutputsThatDependOnTheInput(
            String name, TfLiteFile network, List<Integer> outputSizes)
            throws IOException, ModelException, TranslateException {
        Path file = folder.resolve(name + ".tflite");
        TfLiteWriter.write(network, file);
        assertEquals(network, TfLiteReader.read(file));

        TfLiteTensor input = network.main().tensors().get(network.main().inputs().get(0));
        float[][] first;
        float[][] second;
        Criteria<float[], float[][]> criteria =
                Criteria.builder()
                        .setTypes(float[].class, float[][].class)
                        .optModelPath(file)
                        .optEngine("TFLite")
                        .optTranslator(new FloatsTranslator(shape(input)))
                        .build();
        try (ZooModel<float[], float[][]> model = criteria.loadModel();
                Predictor<float[], float[][]> predictor = model.newPredictor()) {
            first = predictor.predict(image(input, 1));
            second = predictor.predict(image(input, 2));
        }
        assertEquals(outputSizes, Arrays.stream(first).map(output -> output.length).toList());
        for (int i = 0; i < first.length; i++) {
            for (float value : first[i]) {
                assertTrue(Float.isFinite(value), name);
            }
            assertTrue(spread(first[i]) > 1e-6, name + " gives the same everywhere");
            assertTrue(!Arrays.equals(first[i], second[i]), name + " ignores its input");
        }
    }

    private static float spread(float[] values) {
        float[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length - 1] - sorted[0];
    }

    private static Shape shape(TfLiteTensor tensor) {
        return new Shape(tensor.shape().stream().mapToLong(Integer::longValue).toArray());
    }

    private static float[] image(TfLiteTensor input, long seed) {
        int size =
                Math.toIntExact(LongStream.of(shape(input).getShape()).reduce(1, (a, b) -> a * b));
        Random random = new Random(seed);
        float[] image = new float[size];
        for (int i = 0; i < size; i++) {
            image[i] = 2 * random.nextFloat() - 1;
        }
        return image;
    }

    private record FloatsTranslator(Shape input)
            implements NoBatchifyTranslator<float[], float[][]> {

        @Override
        public NDList processInput(TranslatorContext context, float[] image) {
            NDManager manager = context.getNDManager();
            return new NDList(manager.create(FloatBuffer.wrap(image), input));
        }

        @Override
        public float[][] processOutput(TranslatorContext context, NDList outputs) {
            return outputs.stream().map(NDArray::toFloatArray).toArray(float[][]::new);
        }
    }
}
