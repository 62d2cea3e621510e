package org.djlplan.integration.torch;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The inputs of one prediction.
 *
 * @param arrays an array for each input of the model
 */
public record ModelInputs(List<Array> arrays) {

    public ModelInputs {
        arrays = ImmutableList.copyOf(arrays);
    }

    /**
     * One input.
     *
     * @param shape every dimension at least 1
     * @param type 32-bit floats, or integers of 8 or 64 bits
     * @param limit integers are at least 0 and below this; 8-bit ones wrap around. Floats are in
     *     [−1, 1), whatever the limit
     */
    public record Array(Shape shape, DataType type, int limit) {

        private ByteBuffer fill(Random random) {
            int elements = Math.toIntExact(shape.size());
            ByteBuffer values =
                    ByteBuffer.allocateDirect(elements * type.getNumOfBytes())
                            .order(ByteOrder.nativeOrder());
            for (int i = 0; i < elements; i++) {
                switch (type) {
                    case FLOAT32 -> values.putFloat(random.nextFloat() * 2 - 1);
                    case INT64 -> values.putLong(random.nextInt(limit));
                    case INT8, UINT8 -> values.put((byte) random.nextInt(limit));
                    default -> throw new IllegalStateException(type.toString());
                }
            }
            return values.rewind();
        }
    }

    /** Returns inputs of 32-bit floats with these shapes. */
    public static ModelInputs floats(long[]... shapes) {
        return new ModelInputs(
                List.of(shapes).stream()
                        .map(shape -> new Array(new Shape(shape), DataType.FLOAT32, 1))
                        .toList());
    }

    /** Returns these inputs and one more, of integers below {@code limit}. */
    public ModelInputs and(DataType type, int limit, long... shape) {
        return new ModelInputs(
                ImmutableList.<Array>builder()
                        .addAll(arrays)
                        .add(new Array(new Shape(shape), type, limit))
                        .build());
    }

    /** Returns the same inputs with another first dimension. */
    public ModelInputs ofBatch(long size) {
        return new ModelInputs(
                arrays.stream()
                        .map(
                                array -> {
                                    long[] shape = array.shape().getShape().clone();
                                    shape[0] = size;
                                    return new Array(new Shape(shape), array.type(), array.limit());
                                })
                        .toList());
    }

    /** Creates the inputs; the same seed gives the same values. */
    public NDList create(NDManager manager, long seed) {
        Random random = new Random(seed);
        NDList inputs = new NDList();
        for (Array array : arrays) {
            inputs.add(manager.create(array.fill(random), array.shape(), array.type()));
        }
        return inputs;
    }
}
