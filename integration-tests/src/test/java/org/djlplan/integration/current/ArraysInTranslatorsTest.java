package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.modality.cv.transform.CenterCrop;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.modality.cv.translator.ImageClassificationTranslator;
import ai.djl.modality.cv.util.NDImageUtils;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.Batchifier;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.Pipeline;
import java.awt.Color;
import java.awt.image.BufferedImage;
import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.integration.support.TestModels;
import org.junit.jupiter.api.Test;

/**
 * Tests arrays of djl-plan's engine in what DJL's translators use: batches, images and inputs of
 * models.
 */
final class ArraysInTranslatorsTest extends OwnArrays {

    @Test
    void batchify_andUnbatchify_giveTheSame() {
        NDList[] samples = {new NDList(counted(2)), new NDList(counted(2).add(5))};
        NDList batch = Batchifier.STACK.batchify(samples);
        assertValues(batch.singletonOrThrow(), new Shape(2, 2), 0, 1, 5, 6);
        NDList[] back = Batchifier.STACK.unbatchify(batch);
        assertEquals(2, back.length);
        assertValues(back[1].singletonOrThrow().squeeze(), new Shape(2), 5, 6);
    }

    @Test
    void encode_andDecode_giveTheSame() {
        NDList list = new NDList(counted(2, 2), manager.create(new int[] {3}));
        NDList back = NDList.decode(manager, list.encode());
        assertEquals(list.get(0), back.get(0));
        assertEquals(list.get(1), back.get(1));
    }

    @Test
    void predict_arrayWithAGradient_isAnInputAndOwnArraysHaveNone() throws Exception {
        NDArray own = counted(2);
        assertFalse(own.hasGradient());
        assertUnsupported(() -> own.setRequiresGradient(true));
        if (!Engine.hasEngine("PyTorch")) {
            return;
        }
        try (NDManager other = NDManager.newBaseManager(Device.cpu(), "PyTorch");
                Model model = Model.newInstance("chains", "TFLite")) {
            model.load(TestModels.built("chains"));
            Shape shape = model.describeInput().valueAt(0);
            NDArray plain = other.ones(shape);
            NDArray learning = other.ones(shape);
            learning.setRequiresGradient(true);
            try (Predictor<NDList, NDList> predictor =
                    model.newPredictor(new NoopTranslator(null))) {
                float[] wanted = predictor.predict(new NDList(plain)).head().toFloatArray();
                NDList found = predictor.predict(new NDList(learning));
                assertArrayEquals(wanted, found.head().toFloatArray());
            }
            assertArrayEquals(
                    new float[] {1, 2}, learning.flatten().get(":2").add(own).toFloatArray());
        }
    }

    private static Image image(int width, int height) {
        BufferedImage pixels = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                pixels.setRGB(x, y, new Color(x, 2 * y, x + y).getRGB());
            }
        }
        return ImageFactory.getInstance().fromImage(pixels);
    }

    @Test
    void transforms_ofAnImage_resizeCropAndNormalize() {
        NDArray pixels = image(8, 4).toNDArray(manager);
        assertEquals(new Shape(4, 8, 3), pixels.getShape());
        assertEquals(7, pixels.toUint8Array()[7 * 3]);
        NDArray half = NDImageUtils.resize(pixels, 4, 2, Image.Interpolation.BILINEAR);
        assertEquals(new Shape(2, 4, 3), half.getShape());
        assertValues(half.toType(DataType.FLOAT32, false).get("0, :, 1"), new Shape(4), 1, 1, 1, 1);
        NDArray near = NDImageUtils.resize(pixels.expandDims(0), 4, 2, Image.Interpolation.NEAREST);
        assertValues(
                near.toType(DataType.FLOAT32, false).get("0, 1, :, 0"), new Shape(4), 0, 2, 4, 6);
        NDArray cropped = new CenterCrop(4, 4).transform(pixels);
        assertEquals(new Shape(4, 4, 3), cropped.getShape());
        NDArray tensor = new ToTensor().transform(pixels);
        assertEquals(new Shape(3, 4, 8), tensor.getShape());
        assertEquals(7 / 255f, tensor.getFloat(0, 0, 7), 1e-6f);
        float[] mean = {0, 1 / 255f, 0};
        float[] scale = {1 / 255f, 0.5f, 1};
        NDArray normal = new Normalize(mean, scale).transform(tensor);
        assertEquals(7, normal.getFloat(0, 0, 7), 1e-5f);
        assertEquals(10 / 255f, normal.getFloat(1, 3, 0), 1e-6f);
    }

    @Test
    void predict_imageClassification_givesTheSameProbabilitiesAgain() throws Exception {
        try (Model model = Model.newInstance("mobilenet_v1", "TFLite")) {
            model.load(TestModels.built("mobilenet_v1"));
            Shape input = model.describeInput().valueAt(0);
            int classes = (int) model.describeOutput().valueAt(0).size();
            Pipeline pipeline =
                    new Pipeline()
                            .add(new Resize((int) input.get(2), (int) input.get(1)))
                            .add(new ToTensor())
                            .add(new Normalize(new float[3], new float[] {1, 1, 1}))
                            .add(array -> array.transpose(1, 2, 0));
            ImageClassificationTranslator translator =
                    ImageClassificationTranslator.builder()
                            .setPipeline(pipeline)
                            .optSynset(
                                    IntStream.range(0, classes)
                                            .mapToObj(i -> "class " + i)
                                            .toList())
                            .optApplySoftmax(true)
                            .build();
            try (Predictor<Image, Classifications> predictor = model.newPredictor(translator)) {
                Classifications found = predictor.predict(image(40, 30));
                double sum = found.getProbabilities().stream().mapToDouble(p -> p).sum();
                assertEquals(1, sum, 1e-3);
                assertTrue(found.best().getProbability() >= 1.0 / classes);
                assertEquals(found.toString(), predictor.predict(image(40, 30)).toString());
                assertEquals(1, predictor.batchPredict(List.of(image(40, 30))).size());
            }
        }
    }
}
