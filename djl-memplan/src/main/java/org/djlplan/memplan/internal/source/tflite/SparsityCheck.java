package org.djlplan.memplan.internal.source.tflite;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;

/**
 * Checks how a constant is stored sparsely. The engine writes the dense tensor at positions that it
 * does not check. Throws {@link InvalidModelException} only.
 *
 * <p>The elements lie in the order of nested loops, the levels. There is a level for each dimension
 * of the tensor, and within these one for each dimension that is cut into blocks. A level is dense,
 * or lists the indices that are stored: for each pass of the loop around it a segment of a list.
 */
final class SparsityCheck {

    static final int DENSE = 0;
    static final int SPARSE = 1;

    private final List<Integer> shape;
    private final List<Integer> order;
    private final List<Integer> blocked;
    private final List<FlatTable> levels;
    private final String path;

    private SparsityCheck(TfLiteTensor tensor, FlatTable sparsity, String path) {
        shape = tensor.shape();
        order = sparsity.ints("traversal_order");
        blocked = sparsity.ints("block_map");
        levels = sparsity.tables("dim_metadata");
        this.path = path;
    }

    /**
     * Checks a tensor.
     *
     * @param storedBytes size of its content
     * @param path of the tensor
     */
    static void check(TfLiteTensor tensor, FlatTable sparsity, int storedBytes, String path) {
        SparsityCheck check = new SparsityCheck(tensor, sparsity, path + ".sparsity");
        check.require(tensor.hasFixedSize(), "", "of a tensor without a fixed size");
        long elements = check.elements();
        check.require(
                elements * tensor.elementType().bytes() <= storedBytes,
                "",
                "of " + elements + " elements, the buffer holds " + storedBytes + " bytes");
    }

    private long elements() {
        int count = shape.size() + blocked.size();
        require(
                !shape.isEmpty() && levels.size() == count,
                ".dim_metadata",
                levels.size() + " levels for " + count + " dimensions");
        checkOrder(count);
        int[] sizes = sizes();
        int passes = 1;
        for (int level = 0; level < count; level++) {
            passes = passes(level, sizes[order.get(level)], passes);
        }
        return passes;
    }

    /** The levels of the tensor's dimensions come first, then those of blocks. */
    private void checkOrder(int count) {
        require(order.size() == count, ".traversal_order", order + " for " + count + " levels");
        BitSet seen = new BitSet();
        for (int i = 0; i < count; i++) {
            int dimension = order.get(i);
            int from = i < shape.size() ? 0 : shape.size();
            int to = i < shape.size() ? shape.size() : count;
            require(
                    dimension >= from && dimension < to && !seen.get(dimension),
                    ".traversal_order",
                    order + " for " + shape.size() + " dimensions");
            seen.set(dimension);
        }
    }

    /** Returns the sizes of the dimensions: the numbers of blocks, then the sizes of blocks. */
    private int[] sizes() {
        int rank = shape.size();
        int[] sizes = new int[rank + blocked.size()];
        for (int i = 0; i < rank; i++) {
            sizes[i] = shape.get(i);
        }
        for (int level = rank; level < sizes.length; level++) {
            sizes[order.get(level)] = levels.get(level).intValue("dense_size");
        }
        for (int block = 0; block < blocked.size(); block++) {
            int dimension = blocked.get(block);
            int size = sizes[rank + block];
            // The engine takes the size of a block from the level with the number of its dimension.
            int taken = levels.get(order.get(rank + block)).intValue("dense_size");
            require(
                    dimension > (block == 0 ? -1 : blocked.get(block - 1)) && dimension < rank,
                    ".block_map",
                    blocked + " for " + rank + " dimensions");
            require(
                    size > 0 && taken == size && shape.get(dimension) % size == 0,
                    ".block_map",
                    "blocks of " + size + " of " + shape.get(dimension));
            sizes[dimension] = shape.get(dimension) / size;
        }
        return sizes;
    }

    /** Checks a level, and returns how often the loops down to this level pass. */
    private int passes(int level, int size, int outer) {
        FlatTable stored = levels.get(level);
        String at = ".dim_metadata[" + level + "]";
        int format = stored.intValue("format");
        if (format == DENSE) {
            int dense = stored.intValue("dense_size");
            require(dense == size, at, "a dense size of " + dense + ", the tensor has " + size);
            long passes = (long) outer * size;
            require(passes <= Integer.MAX_VALUE, at, passes + " elements");
            return (int) passes;
        }
        require(format == SPARSE && level < shape.size(), at, "format " + format);
        int[] segments = values(stored, "array_segments");
        int[] indices = values(stored, "array_indices");
        require(
                segments.length == outer + 1L,
                at,
                segments.length + " ends of segments for " + outer + " segments");
        int end = 0;
        for (int i = 0; i < segments.length; i++) {
            boolean follows = i == 0 ? segments[i] == 0 : segments[i] >= end;
            require(follows, at, "a segment that ends at " + segments[i]);
            end = segments[i];
        }
        require(end == indices.length, at, indices.length + " indices, segments of " + end);
        for (int index : indices) {
            require(index >= 0 && index < size, at, "an index of " + index + " of " + size);
        }
        return indices.length;
    }

    private static int[] values(FlatTable level, String field) {
        FlatTable vector = level.table(field).orElse(FlatTable.of("Int32Vector"));
        ByteBuffer content = vector.bytes("values").buffer();
        int bytes =
                switch (vector.type()) {
                    case "Uint8Vector" -> Byte.BYTES;
                    case "Uint16Vector" -> Short.BYTES;
                    default -> Integer.BYTES;
                };
        int[] values = new int[content.remaining() / bytes];
        for (int i = 0; i < values.length; i++) {
            values[i] =
                    switch (bytes) {
                        case Byte.BYTES -> Byte.toUnsignedInt(content.get());
                        case Short.BYTES -> Short.toUnsignedInt(content.getShort());
                        default -> content.getInt();
                    };
        }
        return values;
    }

    private void require(boolean condition, String field, String problem) {
        if (!condition) {
            throw new InvalidModelException(path + field, problem);
        }
    }
}
