package org.djlplan.integration.converted;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;

/** Replaces 16-bit constants, and the operators that unpack them, by 32-bit floats. */
final class PlainFloats {

    private static final int EXPONENT_BIAS = 112;

    private PlainFloats() {}

    static TfLiteFile of(TfLiteFile file) {
        ModelEdit edit = new ModelEdit(file);
        Map<Integer, Integer> plain = new HashMap<>();
        for (TfLiteOperator operator : file.main().operators()) {
            int first = operator.inputs().isEmpty() ? 0 : operator.inputs().get(0);
            if (file.codeOf(operator).name().equals("DEQUANTIZE")
                    && edit.tensor(first).elementType() == ElementType.FLOAT16) {
                plain.put(operator.outputs().get(0), unpacked(edit, first));
            } else {
                List<Integer> inputs =
                        operator.inputs().stream().map(id -> plain.getOrDefault(id, id)).toList();
                edit.operator(operator, inputs, operator.outputs());
            }
        }
        return edit.build(file.main().inputs(), file.main().outputs());
    }

    private static int unpacked(ModelEdit edit, int halves) {
        ByteBuffer content = edit.content(halves);
        ByteBuffer floats = ModelEdit.littleEndian(2 * content.remaining());
        while (content.hasRemaining()) {
            floats.putFloat(toFloat(content.getShort()));
        }
        return edit.constant(halves, TfLiteTensor.FLOAT32, floats.rewind(), Optional.empty());
    }

    private static float toFloat(short half) {
        int bits = half & 0x7FFF;
        float size =
                bits < 0x400
                        ? bits * 0x1p-24f
                        : Float.intBitsToFloat((bits << 13) + (EXPONENT_BIAS << 23));
        return half < 0 ? -size : size;
    }
}
