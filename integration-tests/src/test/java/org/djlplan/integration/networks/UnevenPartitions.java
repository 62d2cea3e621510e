package org.djlplan.integration.networks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;

/**
 * A chain of stages, separated by an operator that XNNPACK does not take (TANH), so that each stage
 * is a partition. As in YOLOv4-tiny, partitions differ in work: some convolutions, or a few cheap
 * element-wise operators.
 */
public final class UnevenPartitions {

    private static final int SIDE = 40;
    private static final int CHANNELS = 24;

    private UnevenPartitions() {}

    /**
     * Returns the network; its input is {@code [1, 40, 40, 24]}.
     *
     * @param stages number of convolutions in each stage; 0 for element-wise operators
     */
    public static TfLiteFile build(long seed, List<Integer> stages) {
        return new Builder(seed).build(stages);
    }

    private static final class Builder {

        private static final Form IMAGE = Form.of(ElementType.FLOAT32, 1, SIDE, SIDE, CHANNELS);

        private final ModelSketch model = new ModelSketch();
        private final Random random;

        Builder(long seed) {
            random = new Random(seed);
        }

        TfLiteFile build(List<Integer> stages) {
            int x = model.input(IMAGE);
            for (int convolutions : stages) {
                int before = x;
                for (int i = 0; i < convolutions; i++) {
                    x = convolution(x);
                }
                if (convolutions == 0) {
                    x = add(x, before);
                    x = model.operator("ABS", Optional.empty(), IMAGE, x);
                }
                x = model.operator("TANH", Optional.empty(), IMAGE, x);
            }
            return model.output(x).build();
        }

        private int convolution(int x) {
            Form weights = Form.of(ElementType.FLOAT32, CHANNELS, 3, 3, CHANNELS);
            Form bias = Form.of(ElementType.FLOAT32, CHANNELS);
            FlatTable options =
                    FlatTable.of("Conv2DOptions").with("stride_w", 1).with("stride_h", 1);
            return model.operator(
                    "CONV_2D",
                    Optional.of(options),
                    IMAGE,
                    x,
                    model.constant(weights, small(weights.bytes())),
                    model.constant(bias, small(bias.bytes())));
        }

        /** Returns values with which a stage's outputs neither grow nor vanish. */
        private ByteBuffer small(int bytes) {
            ByteBuffer values = ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
            while (values.hasRemaining()) {
                values.putFloat((float) (random.nextGaussian() / Math.sqrt(9 * CHANNELS)));
            }
            return values.rewind();
        }

        private int add(int x, int y) {
            return model.operator("ADD", Optional.of(FlatTable.of("AddOptions")), IMAGE, x, y);
        }
    }
}
