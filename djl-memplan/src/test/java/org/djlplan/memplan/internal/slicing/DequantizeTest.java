package org.djlplan.memplan.internal.slicing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.junit.jupiter.api.Test;

/**
 * Tests which constants are unpacked in advance. {@code DequantizeBitsTest} compares their bits
 * with the engine's.
 */
class DequantizeTest {

    private final TestModel model = new TestModel();

    private static ByteBuffer halves(int... bits) {
        ByteBuffer content = ByteBuffer.allocate(2 * bits.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int each : bits) {
            content.putShort((short) each);
        }
        return content.flip();
    }

    private int unpack(int packed, int... shape) {
        return model.operator("DEQUANTIZE", Optional.empty(), model.tensor(shape), packed);
    }

    @Test
    void constants_packedOneThatAnotherOperatorReads_stays() {
        int packed = model.constant(TestModel.FLOAT16, halves(1, 2, 3), 3);
        int other = model.add(TfLiteTensor.plain(List.of(3), TestModel.FLOAT16, 0, "copy"));
        model.operator("RESHAPE", Optional.of(FlatTable.of("ReshapeOptions")), other, packed);
        TfLiteFile file = model.output(model.copy(unpack(packed, 3)), other).build();
        TfLiteFile result = Dequantize.constants(file);
        assertEquals(2, result.main().operators().size());
        int buffer = result.main().tensors().get(packed).buffer();
        assertEquals(6, result.buffers().get(buffer).sizeBytes());
    }

    @Test
    void constants_notPlain_areUnchanged() {
        int packed = model.constant(TestModel.FLOAT16, halves(1, 2, 3), 3);
        // Cases: read by the caller, computed, scales per channel, subnormal results, no scale.
        int shown = unpack(packed, 3);
        int computed = model.add(TfLiteTensor.plain(List.of(3), TestModel.FLOAT16, 0, "computed"));
        model.operator("RESHAPE", Optional.of(FlatTable.of("ReshapeOptions")), computed, packed);
        unpack(computed, 3);
        unpack(bytes(List.of(1f, 2f, 3f)), 3);
        unpack(bytes(List.of(1e-40f)), 3);
        unpack(bytes(List.of()), 3);
        TfLiteFile file = model.output(shown).build();
        assertEquals(file.main().operators(), Dequantize.constants(file).main().operators());
    }

    private int bytes(List<Float> scales) {
        int plain = model.constant(TestModel.INT8, ByteBuffer.wrap(new byte[] {1, 2, 3}), 3);
        TfLiteTensor tensor = model.build().main().tensors().get(plain);
        TfLiteTensor.Quantization quantization =
                new TfLiteTensor.Quantization(
                        List.of(),
                        List.of(),
                        scales,
                        scales.stream().map(scale -> 0L).toList(),
                        Optional.empty(),
                        0);
        return model.add(
                new TfLiteTensor(
                        tensor.shape(),
                        List.of(),
                        tensor.typeCode(),
                        tensor.buffer(),
                        "scaled",
                        Optional.of(quantization),
                        false,
                        Optional.empty(),
                        false));
    }
}
