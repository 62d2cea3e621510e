package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.memplan.PlanHandle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that published ONNX models give the same bytes planned and stock, for inputs of varying
 * sizes.
 */
@Tag("onnxruntime")
@Tag("real-models")
class OrtRealModelsTest {

    private static final int INPUTS = 20;
    private static final int SAMPLES = 512;
    private static final long RATE = 16000;

    @ParameterizedTest
    @CsvSource({
        "ch_PP-OCRv4_det_infer,0",
        "ch_PP-OCRv4_rec_infer,48",
        "ch_ppocr_mobile_v2.0_cls_infer,48"
    })
    @NeedsModels(RealModels.ONNX)
    void predict_imagesOfManySizes_givesTheBytesOfStock(String name, int height) throws Exception {
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(RealModels.ONNX.file(name));
                ZooModel<NDList, NDList> planned = OrtModels.planned(RealModels.ONNX.file(name))) {
            assertEquals(images(stock, height), images(planned, height));
            assertTrue(PlanHandle.of(planned).orElseThrow().report().planned());
        }
    }

    private static List<List<ByteBuffer>> images(ZooModel<NDList, NDList> model, int height)
            throws Exception {
        List<List<ByteBuffer>> all = new ArrayList<>();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < INPUTS; i++) {
                Random random = new Random(i);
                Shape shape =
                        new Shape(
                                1,
                                3,
                                height == 0 ? 32L * (1 + random.nextInt(10)) : height,
                                32L * (1 + random.nextInt(10)));
                try (NDManager manager = model.getNDManager().newSubManager()) {
                    NDList outputs =
                            predictor.predict(new NDList(OrtModels.floats(manager, random, shape)));
                    all.add(OrtModels.bytes(outputs));
                    outputs.close();
                }
            }
        }
        return all;
    }

    @Test
    @NeedsModels(RealModels.ONNX)
    void predict_speechWithState_givesTheBytesOfStock() throws Exception {
        try (ZooModel<NDList, NDList> stock =
                        OrtModels.stock(RealModels.ONNX.file("silero_vad_v5"));
                ZooModel<NDList, NDList> planned =
                        OrtModels.planned(RealModels.ONNX.file("silero_vad_v5"))) {
            assertEquals(speech(stock), speech(planned));
        }
    }

    /** Each prediction is given the state that the one before returned. */
    private static List<List<ByteBuffer>> speech(ZooModel<NDList, NDList> model) throws Exception {
        List<List<ByteBuffer>> all = new ArrayList<>();
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            Random random = new Random(1);
            NDList outputs =
                    new NDList(
                            OrtModels.floats(manager, random, new Shape(1, 1)),
                            OrtModels.floats(manager, random, new Shape(2, 1, 128)));
            for (int i = 0; i < INPUTS; i++) {
                NDList inputs =
                        new NDList(
                                OrtModels.floats(manager, random, new Shape(1, SAMPLES)),
                                outputs.get(1),
                                manager.create(
                                        LongBuffer.wrap(new long[] {RATE}),
                                        new Shape(),
                                        DataType.INT64));
                inputs.forEach(input -> input.setName(null));
                outputs = predictor.predict(inputs);
                all.add(OrtModels.bytes(outputs));
            }
        }
        return all;
    }
}
