package org.djlplan.memplan.internal.source.tflite;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Checks how a constant stores strings. Kernels read the number of strings and their offsets
 * without checking. Throws {@link InvalidModelException} only.
 *
 * <p>Layout: the number of strings; for each its offset from the beginning, then the offset of the
 * end; the strings' bytes. All numbers have 32 bits.
 */
final class StringsCheck {

    /** The number of strings, and the offset of the end. */
    private static final int OTHER_NUMBERS = 2;

    private StringsCheck() {}

    /**
     * Checks a constant.
     *
     * @param shape the dimensions of its tensor
     * @param path of its content
     */
    static void check(List<Integer> shape, TfLiteBytes content, String path) {
        int size = content.sizeBytes();
        require(size >= Integer.BYTES, path, "holds " + size + " bytes, too few for strings");
        ByteBuffer bytes = content.buffer();
        int count = bytes.getInt(0);
        require(
                count >= elements(shape),
                path,
                "holds " + count + " strings, the shape needs more");
        if (count == 0) {
            return;
        }
        long least = Integer.BYTES * ((long) count + OTHER_NUMBERS);
        require(least <= size, path, "holds " + size + " bytes, too few for " + count + " offsets");
        for (int i = 0; i <= count; i++) {
            int offset = bytes.getInt(Integer.BYTES * (i + 1));
            require(offset >= least && offset <= size, path, "has a string at byte " + offset);
            least = offset;
        }
    }

    /** Returns the number of elements, at most one more than any constant can have. */
    private static long elements(List<Integer> shape) {
        long elements = 1;
        for (int dimension : shape) {
            // The engine refuses a constant with an unknown dimension, so 0 is as good as any.
            elements = Math.min(Integer.MAX_VALUE + 1L, elements * Math.max(0, dimension));
        }
        return elements;
    }

    private static void require(boolean condition, String path, String problem) {
        if (!condition) {
            throw new InvalidModelException(path, problem);
        }
    }
}
