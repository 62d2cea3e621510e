package org.djlplan.memplan.source.tflite;

import static com.google.common.base.Preconditions.checkArgument;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Bytes that replace as many others in a file and so put its operators in another order: the vector
 * of offsets to the operators. Nothing moves, so all other offsets, alignments and constants stay
 * as they are.
 *
 * <p>An offset counts from its own position and is unsigned, so each is computed anew and must
 * still point forward; it does in every file of which the operators lie behind their vector, as all
 * writers lay them out.
 *
 * @param offsetBytes where the bytes to replace begin
 * @param bytes what is to stand there
 */
public record OperatorOrderEdit(long offsetBytes, TfLiteBytes bytes) {

    private static final List<String> OPERATORS = List.of("subgraphs", "0", "operators");

    public OperatorOrderEdit {
        checkArgument(offsetBytes >= 0, "negative offset: %s", offsetBytes);
    }

    /** Returns one past the last byte that is replaced. */
    public long endBytes() {
        return offsetBytes + bytes.sizeBytes();
    }

    /**
     * Returns what is to be changed so that the first subgraph's operators stand in an order.
     *
     * @param file a model, from the buffer's position to its limit
     * @param name how messages call the file
     * @param order indices of the operators as they stand, in the new order
     * @throws TfLiteFormatException if it is no {@code .tflite} file, or an operator lies before or
     *     inside of the vector
     * @throws IllegalArgumentException if the model has another number of operators
     */
    public static OperatorOrderEdit of(ByteBuffer file, String name, List<Integer> order)
            throws TfLiteFormatException {
        CheckedBuffer buffer = new CheckedBuffer(file, name);
        int slot = TfLiteReader.root(buffer).locate(OPERATORS);
        int vector = buffer.follow(slot, TreePath.ROOT);
        int length = buffer.length(vector, Integer.BYTES, TreePath.ROOT);
        checkArgument(length == order.size(), "%s operators, not %s", length, order.size());
        long first = (long) vector + Integer.BYTES;
        long end = first + (long) length * Integer.BYTES;
        ByteBuffer offsets =
                ByteBuffer.allocate(length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < length; i++) {
            long old = first + (long) order.get(i) * Integer.BYTES;
            long operator = buffer.follow(old, TreePath.ROOT);
            if (operator < end) {
                throw buffer.error(old, TreePath.ROOT, "an operator that lies before their vector");
            }
            offsets.putInt((int) (operator - (first + (long) i * Integer.BYTES)));
        }
        return new OperatorOrderEdit(first, TfLiteBytes.of(offsets.flip()));
    }
}
