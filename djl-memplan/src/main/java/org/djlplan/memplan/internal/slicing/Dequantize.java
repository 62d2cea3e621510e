package org.djlplan.memplan.internal.slicing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Set;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;

/**
 * Converts constants of 16-bit floats and 8-bit integers, which DEQUANTIZE operators would unpack
 * into separate memory before the first inference, to constants of 32-bit floats. The operators are
 * removed. Values equal those of the engine's kernels bit by bit: 16-bit floats are exact in 32
 * bits, and a scaled integer is rounded once.
 *
 * <p>The new constants are computed when they are written; see {@link TfLiteBytes#computed}.
 */
public final class Dequantize {

    private static final int HALF_EXPONENT = 0x1F;

    private Dequantize() {}

    /** Converts all constants that can be unpacked in advance, and returns the model. */
    public static TfLiteFile constants(TfLiteFile file) {
        ModelEdit edit = new ModelEdit(file);
        Set<Integer> callers = new HashSet<>(file.main().inputs());
        callers.addAll(file.main().outputs());
        for (TfLiteOperator operator : file.main().operators()) {
            if (isUnpacked(file, operator) && !callers.contains(operator.outputs().get(0))) {
                edit.fill(operator.outputs().get(0), content(file, operator.inputs().get(0)));
            } else {
                edit.addOperator(operator);
            }
        }
        return edit.build();
    }

    /** Returns whether an operator only unpacks a constant. */
    private static boolean isUnpacked(TfLiteFile file, TfLiteOperator operator) {
        if (!file.codeOf(operator).name().equals("DEQUANTIZE")
                || operator.inputs().size() != 1
                || operator.outputs().size() != 1
                || operator.presentInputs().isEmpty()
                || operator.presentOutputs().isEmpty()) {
            return false;
        }
        TfLiteTensor packed = file.main().tensors().get(operator.inputs().get(0));
        TfLiteTensor unpacked = file.main().tensors().get(operator.outputs().get(0));
        return file.isConstant(packed)
                && packed.sparsity().isEmpty()
                && unpacked.typeCode() == TfLiteTensor.FLOAT32
                && !unpacked.isVariable()
                && unpacked.buffer() == 0
                && unpacked.shape().equals(packed.shape())
                && unpacked.sizeBytes() <= Integer.MAX_VALUE
                && isExact(packed);
    }

    /** The engine flushes subnormal results to zero, and supports no per-channel scales here. */
    private static boolean isExact(TfLiteTensor packed) {
        return switch (packed.elementType()) {
            case FLOAT16 -> true;
            case INT8, UINT8 ->
                    packed.quantization()
                            .filter(q -> q.details().isEmpty())
                            .filter(q -> q.scale().size() == 1 && q.zeroPoint().size() == 1)
                            .filter(q -> q.scale().get(0) >= Float.MIN_NORMAL)
                            .isPresent();
            default -> false;
        };
    }

    private static TfLiteBytes content(TfLiteFile file, int id) {
        TfLiteTensor packed = file.main().tensors().get(id);
        TfLiteBytes content = file.buffers().get(packed.buffer());
        int elementBytes = packed.elementType().bytes();
        return TfLiteBytes.computed(
                content.sizeBytes() / elementBytes * Float.BYTES,
                (begin, size) -> {
                    int first = begin / Float.BYTES;
                    int end = (begin + size + Float.BYTES - 1) / Float.BYTES;
                    ByteBuffer from =
                            content.read(first * elementBytes, (end - first) * elementBytes);
                    return unpack(packed, from, end - first)
                            .slice(begin - first * Float.BYTES, size);
                });
    }

    private static ByteBuffer unpack(TfLiteTensor packed, ByteBuffer from, int count) {
        ByteBuffer to = ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        if (packed.elementType() == ElementType.FLOAT16) {
            for (int i = 0; i < count; i++) {
                to.putInt(floatBits(from.getShort()));
            }
            return to.flip();
        }
        TfLiteTensor.Quantization quantization = packed.quantization().orElseThrow();
        float scale = quantization.scale().get(0);
        int zeroPoint = quantization.zeroPoint().get(0).intValue();
        boolean signed = packed.elementType() == ElementType.INT8;
        for (int i = 0; i < count; i++) {
            byte value = from.get();
            int number = signed ? value : Byte.toUnsignedInt(value);
            to.putFloat((float) ((double) scale * (number - zeroPoint)));
        }
        return to.flip();
    }

    /** Returns the bits of the 32-bit float that equals a 16-bit one. */
    private static int floatBits(short half) {
        int sign = (half & 0x8000) << 16;
        int exponent = half >> 10 & HALF_EXPONENT;
        int mantissa = half & 0x3FF;
        if (exponent == HALF_EXPONENT) {
            return sign | 0x7F800000 | mantissa << 13;
        }
        if (exponent == 0) {
            return sign | Float.floatToRawIntBits(mantissa * 0x1p-24f);
        }
        return sign | (exponent + 112) << 23 | mantissa << 13;
    }
}
