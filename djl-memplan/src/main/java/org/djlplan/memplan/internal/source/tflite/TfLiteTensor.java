package org.djlplan.memplan.internal.source.tflite;

import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A tensor as stored in the file.
 *
 * @param shape its dimensions, outermost first, −1 if unknown; empty for a scalar
 * @param shapeSignature the dimensions with −1 where the caller defines the size; empty if the file
 *     has none
 * @param typeCode number of the element type in TensorFlow's schema
 * @param buffer index of its content among the file's buffers; 0 for none
 * @param name possibly empty
 * @param quantization mapping of integers to real values
 * @param isVariable whether it keeps its content between inferences
 * @param sparsity {@code SparsityParameters}, if the content is stored sparsely
 * @param hasRank whether an empty shape means a scalar instead of an unknown shape (newer files)
 */
public record TfLiteTensor(
        List<Integer> shape,
        List<Integer> shapeSignature,
        int typeCode,
        int buffer,
        String name,
        Optional<Quantization> quantization,
        boolean isVariable,
        Optional<FlatTable> sparsity,
        boolean hasRank) {

    /** Number of the type of 32-bit floats. */
    public static final int FLOAT32 = 0;

    /** Number of the type of signed 32-bit integers. */
    public static final int INT32 = 2;

    private static final ImmutableList<ElementType> TYPES =
            ImmutableList.of(
                    ElementType.FLOAT32,
                    ElementType.FLOAT16,
                    ElementType.INT32,
                    ElementType.UINT8,
                    ElementType.INT64,
                    ElementType.STRING,
                    ElementType.BOOL,
                    ElementType.INT16,
                    ElementType.COMPLEX64,
                    ElementType.INT8,
                    ElementType.FLOAT64,
                    ElementType.COMPLEX128,
                    ElementType.UINT64,
                    ElementType.OPAQUE, // RESOURCE
                    ElementType.OPAQUE, // VARIANT
                    ElementType.UINT32,
                    ElementType.UINT16,
                    ElementType.INT4);

    public TfLiteTensor {
        shape = ImmutableList.copyOf(shape);
        shapeSignature = ImmutableList.copyOf(shapeSignature);
    }

    /** Creates a constant tensor without quantization and sparsity. */
    public static TfLiteTensor plain(List<Integer> shape, int typeCode, int buffer, String name) {
        return new TfLiteTensor(
                shape,
                List.of(),
                typeCode,
                buffer,
                name,
                Optional.empty(),
                false,
                Optional.empty(),
                false);
    }

    TfLiteTensor withShape(List<Integer> other) {
        return new TfLiteTensor(
                other,
                shapeSignature,
                typeCode,
                buffer,
                name,
                quantization,
                isVariable,
                sparsity,
                hasRank);
    }

    /** Returns the element type; types without a size in whole bytes may be opaque. */
    public ElementType elementType() {
        return typeCode >= 0 && typeCode < TYPES.size() ? TYPES.get(typeCode) : ElementType.OPAQUE;
    }

    /** Returns whether the size of the tensor is known from the file. */
    public boolean hasFixedSize() {
        return elementType().bytes() > 0 && !shape.contains(-1);
    }

    /**
     * Returns the size in bytes of the dense tensor, 0 without a fixed size.
     *
     * @throws ArithmeticException if it is 2⁶³ or more
     */
    public long sizeBytes() {
        if (!hasFixedSize() || shape.contains(0)) {
            return 0;
        }
        long size = elementType().bytes();
        for (int dimension : shape) {
            size = Math.multiplyExact(size, dimension);
        }
        return size;
    }

    /**
     * The mapping of a tensor's integers to real values: scale · (q − zero point).
     *
     * @param min smallest real value, per channel or one for all; like all lists here, empty if
     *     unknown
     * @param max largest real value
     * @param scale scale, per channel or one for all
     * @param zeroPoint zero point, per channel or one for all
     * @param details another technique instead of these lists
     * @param quantizedDimension dimension of the channels
     */
    public record Quantization(
            List<Float> min,
            List<Float> max,
            List<Float> scale,
            List<Long> zeroPoint,
            Optional<FlatTable> details,
            int quantizedDimension) {

        public Quantization {
            min = ImmutableList.copyOf(min);
            max = ImmutableList.copyOf(max);
            scale = ImmutableList.copyOf(scale);
            zeroPoint = ImmutableList.copyOf(zeroPoint);
        }
    }
}
