package org.djlplan.integration.converted;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;

/**
 * Converts models to 8-bit (<em>dynamic range</em>) or 4-bit weights with floats between the
 * layers, as TensorFlow's converter does without sample data. Convolutions have a scale for each
 * channel; dense layers have one scale, or with 4 bits one for each channel.
 */
final class FewBitWeights {

    private static final int INT8 = 9;
    private static final int INT4 = 17;
    private static final int HALF_BYTE = 4;

    /** The converter leaves smaller weights as they are. */
    private static final int LEAST_ELEMENTS = 1024;

    private FewBitWeights() {}

    /**
     * Converts a model.
     *
     * @param bits 8 or 4
     */
    static TfLiteFile of(TfLiteFile floats, int bits) {
        ModelEdit edit = new ModelEdit(floats);
        for (TfLiteOperator operator : floats.main().operators()) {
            String type = floats.codeOf(operator).name();
            List<Integer> inputs = new ArrayList<>(operator.inputs());
            boolean weighted = Weights.dimension(type).isPresent();
            if (weighted
                    && edit.isFloats(inputs.get(Weights.POSITION))
                    && edit.floats(inputs.get(Weights.POSITION)).length >= LEAST_ELEMENTS) {
                inputs.set(
                        Weights.POSITION, rounded(edit, type, inputs.get(Weights.POSITION), bits));
            }
            edit.operator(operator, inputs, operator.outputs());
        }
        return edit.build(floats.main().inputs(), floats.main().outputs());
    }

    private static int rounded(ModelEdit edit, String type, int id, int bits) {
        // The engine has no depthwise kernel for 4-bit weights with floats.
        boolean half = bits == HALF_BYTE && !type.equals("DEPTHWISE_CONV_2D");
        float[] values = edit.floats(id);
        float[] any = {};
        int dimension = Weights.dimension(type).orElseThrow();
        Weights weights =
                type.equals("FULLY_CONNECTED") && !half
                        ? Weights.together(values, Byte.SIZE, any)
                        : Weights.byChannel(
                                values,
                                edit.tensor(id).shape(),
                                dimension,
                                half ? HALF_BYTE : Byte.SIZE,
                                any);
        ByteBuffer content = half ? weights.halfBytes() : weights.bytes(0);
        return edit.constant(id, half ? INT4 : INT8, content, Optional.of(weights.quantization(0)));
    }
}
