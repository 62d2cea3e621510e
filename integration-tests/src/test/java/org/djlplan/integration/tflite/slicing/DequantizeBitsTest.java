package org.djlplan.integration.tflite.slicing;

import static org.djlplan.memplan.graph.ElementType.FLOAT16;
import static org.djlplan.memplan.graph.ElementType.FLOAT32;
import static org.djlplan.memplan.graph.ElementType.INT8;
import static org.djlplan.memplan.graph.ElementType.UINT8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.integration.networks.HalfPrecision;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.memplan.internal.slicing.Dequantize;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that constants unpacked in advance have the bits that the engine's kernel computes. */
class DequantizeBitsTest {

    @TempDir Path folder;

    /** An operator that copies makes every 16-bit float an output. */
    @Test
    void run_allHalfPrecisionNumbers_givesTheSameBits() throws IOException {
        ByteBuffer all = ByteBuffer.allocate(2 << 16).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 1 << 16; i++) {
            all.putShort((short) i);
        }
        check(shown(Form.of(FLOAT16, 1 << 16), all.flip()), 1);
    }

    @Test
    void run_allBytes_givesTheSameBits() throws IOException {
        ByteBuffer all = ByteBuffer.allocate(256);
        for (int i = 0; i < 256; i++) {
            all.put((byte) i);
        }
        for (float scale : new float[] {0.1f, 0.003921569f, 1.3e-38f, 3e38f, 7.7777e-5f}) {
            for (int zeroPoint : new int[] {0, -128, 3, 127}) {
                check(shown(Form.of(INT8, 256).scaled(scale, zeroPoint), all.rewind()), 1);
            }
            for (int zeroPoint : new int[] {0, 255, 128}) {
                check(shown(Form.of(UINT8, 256).scaled(scale, zeroPoint), all.rewind()), 1);
            }
        }
    }

    /** Returns a model that unpacks a constant, reshapes it, and returns it. */
    private static TfLiteFile shown(Form packed, ByteBuffer content) {
        ModelSketch model = new ModelSketch();
        int size = packed.shape().get(0);
        model.input(FLOAT32, 1);
        int constant = model.constant(packed, content);
        int unpacked =
                model.operator("DEQUANTIZE", Optional.empty(), Form.of(FLOAT32, size), constant);
        return model.output(model.reshape(unpacked, Form.of(FLOAT32, 1, size))).build();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void run_sharedWeights_givesTheSameBits(int threads) throws IOException {
        check(HalfPrecision.build(4), threads);
    }

    @NeedsModels(RealModels.TFLITE)
    @ParameterizedTest
    @ValueSource(
            strings = {
                "hand_landmark_full",
                "hand_landmark_lite",
                "face_landmark",
                "palm_detection_lite",
                "face_detection_full_range",
                "FaceAntiSpoofing"
            })
    void run_realModel_givesTheSameBits(String name) throws IOException {
        TfLiteFile model = TfLiteReader.read(RealModels.TFLITE.file(name));
        check(model, 1);
        check(model, 2);
    }

    private void check(TfLiteFile packed, int threads) throws IOException {
        TfLiteFile unpacked = Dequantize.constants(packed);
        assertTrue(operators(packed) > 0);
        assertEquals(0, operators(unpacked));
        Bits.assertSame(
                RewrittenModel.run(packed, folder, threads),
                RewrittenModel.run(unpacked, folder, threads),
                threads + " threads");
    }

    private static long operators(TfLiteFile file) {
        return file.main().operators().stream()
                .filter(operator -> file.codeOf(operator).name().equals("DEQUANTIZE"))
                .count();
    }
}
