package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableList;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Tensor;

/** Random inputs of a model. */
final class RandomValues {

    /** Identifiers, of words for instance, are usually small: larger ones might not exist. */
    private static final int INDEX_LIMIT = 10;

    private RandomValues() {}

    /**
     * Returns a value for each input: floats in [0, 1), 8- and 16-bit integers over their whole
     * range, wider ones in [0, 10), bytes of other types zero.
     */
    static List<ByteBuffer> of(Graph graph, long seed) {
        Random random = new Random(seed);
        return graph.inputs().stream()
                .map(id -> value(graph.tensors().get(id), random))
                .collect(ImmutableList.toImmutableList());
    }

    private static ByteBuffer value(Tensor tensor, Random random) {
        ByteBuffer values =
                ByteBuffer.allocate(Math.toIntExact(tensor.bytes())).order(ByteOrder.nativeOrder());
        int bytes = Math.max(1, tensor.type().bytes());
        while (values.remaining() >= bytes) {
            put(values, tensor.type(), random);
        }
        return values.rewind();
    }

    private static void put(ByteBuffer values, ElementType type, Random random) {
        switch (type) {
            case FLOAT32 -> values.putFloat(random.nextFloat());
            case FLOAT64 -> values.putDouble(random.nextDouble());
            case INT8, UINT8 -> values.put((byte) random.nextInt());
            case INT16, UINT16 -> values.putShort((short) random.nextInt());
            case INT32, UINT32 -> values.putInt(random.nextInt(INDEX_LIMIT));
            case INT64, UINT64 -> values.putLong(random.nextInt(INDEX_LIMIT));
            case BOOL -> values.put((byte) random.nextInt(2));
            default -> values.put(new byte[Math.max(1, type.bytes())]);
        }
    }
}
