package org.djlplan.memplan.internal.source.tflite;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Checks parameters of operators, and shapes and scales of their operands, that the engine's
 * kernels use without checking: a stride or filter of 0 causes a division by 0, one that is too
 * large overflows, and a scale that is not a number aborts the process. Throws {@link
 * InvalidModelException} only.
 *
 * <p>djl-plan's native library checks shapes that only the engine knows, and operands that are
 * sizes or positions, when the engine prepares and runs an operator.
 */
final class OperatorRules {

    /** Kernels compute positions in 32 bits, as products of strides and positions in an image. */
    private static final int LARGEST_STRIDE = 1 << 15;

    private static final int LARGEST_DILATION = 1 << 15;
    private static final int LARGEST_WINDOW = 1 << 24;

    /**
     * A sum is shifted left by 20 bits (15 for wider integers), plus one for twice the larger
     * scale.
     */
    private static final double LARGEST_SUM = 1 << 19;

    private static final double LARGEST_SUM_OF_16_BITS = 1 << 14;

    /** A difference is shifted left by 7 bits before it is squared. */
    private static final double LARGEST_SQUARE = 1 << 12;

    private static final float SMALLEST_SCALE = 1e-20f;
    private static final float LARGEST_SCALE = 1e20f;

    /** Multipliers are shifted by at most 31 bits. */
    private static final float SMALLEST_COMPARED = 0x1p-30f;

    private static final int FILTER = 1;

    /** Columns of a block in a sparse filter. */
    private static final int BLOCK_OF_FLOATS = 4;

    private static final int BLOCK_OF_INTEGERS = 16;

    /** The hidden state among the intermediates of a recurrent layer with a wide cell state. */
    private static final int HIDDEN = 4;

    /** The input of a recurrent layer that says that it normalizes its gates. */
    private static final int FORGET_NORMALIZATION = 21;

    private static final FlatTable NO_OPTIONS = FlatTable.of("AbsOptions");

    private final TfLiteSubgraph subgraph;
    private final TfLiteOperator operator;
    private final FlatTable options;
    private final String path;

    /**
     * How an operator uses scales. This determines with which scale its largest input scale is
     * compared.
     */
    private enum Scaled {
        /** The inputs are converted to one scale, and their sum to the output's scale. */
        SUM,
        /** As a sum, but squared. */
        SQUARE,
        /** The output has no scale. */
        COMPARISON,
        /** Any scales are allowed. */
        PRODUCT,
        /**
         * The output is looked up in a table, or computed as a real number, so integers are always
         * quantized.
         */
        FUNCTION
    }

    /** Operators that compute with scales of 8- or 16-bit integers without checking them. */
    private static final ImmutableMap<String, Scaled> SCALED =
            ImmutableMap.<String, Scaled>builder()
                    .put("ADD", Scaled.SUM)
                    .put("SUB", Scaled.SUM)
                    .put("SQUARED_DIFFERENCE", Scaled.SQUARE)
                    .put("MUL", Scaled.PRODUCT)
                    .put("DIV", Scaled.PRODUCT)
                    .put("LESS", Scaled.COMPARISON)
                    .put("LESS_EQUAL", Scaled.COMPARISON)
                    .put("GREATER", Scaled.COMPARISON)
                    .put("GREATER_EQUAL", Scaled.COMPARISON)
                    .put("EQUAL", Scaled.COMPARISON)
                    .put("NOT_EQUAL", Scaled.COMPARISON)
                    .put("ELU", Scaled.FUNCTION)
                    .put("EXP", Scaled.FUNCTION)
                    .put("GELU", Scaled.FUNCTION)
                    .put("HARD_SWISH", Scaled.FUNCTION)
                    .put("LEAKY_RELU", Scaled.FUNCTION)
                    .put("LOG", Scaled.FUNCTION)
                    .put("LOGISTIC", Scaled.FUNCTION)
                    .put("LOG_SOFTMAX", Scaled.FUNCTION)
                    .put("QUANTIZE", Scaled.FUNCTION)
                    .put("RSQRT", Scaled.FUNCTION)
                    .put("SOFTMAX", Scaled.FUNCTION)
                    .put("TANH", Scaled.FUNCTION)
                    .buildOrThrow();

    /**
     * Operators whose options are in a part of the format that the reader does not know: they call
     * graphs, or say what indices stand for. Named by their numbers in the file.
     */
    private static final ImmutableMap<String, String> UNKNOWN =
            ImmutableMap.<String, String>builder()
                    .put("BUILTIN_190", "STABLEHLO_SCATTER")
                    .put("BUILTIN_195", "STABLEHLO_PAD")
                    .put("BUILTIN_198", "STABLEHLO_REDUCE_WINDOW")
                    .put("BUILTIN_200", "STABLEHLO_WHILE")
                    .put("BUILTIN_201", "STABLEHLO_GATHER")
                    .put("BUILTIN_204", "STABLEHLO_RNG_BIT_GENERATOR")
                    .put("BUILTIN_205", "REDUCE_WINDOW")
                    .put("BUILTIN_209", "STABLEHLO_CASE")
                    .buildOrThrow();

    private OperatorRules(
            TfLiteSubgraph subgraph, TfLiteOperator operator, FlatTable options, String path) {
        this.subgraph = subgraph;
        this.operator = operator;
        this.options = options;
        this.path = path;
    }

    /**
     * Checks every operator of a model.
     *
     * @throws InvalidModelException at the first operator that must not run
     */
    static void check(TfLiteFile file) {
        for (int i = 0; i < file.subgraphs().size(); i++) {
            TfLiteSubgraph subgraph = file.subgraphs().get(i);
            for (int j = 0; j < subgraph.operators().size(); j++) {
                TfLiteOperator operator = subgraph.operators().get(j);
                check(file, subgraph, operator, "subgraphs[" + i + "].operators[" + j + "]");
            }
        }
    }

    private static void check(
            TfLiteFile file, TfLiteSubgraph subgraph, TfLiteOperator operator, String path) {
        String type = file.codeOf(operator).name();
        FlatTable options = operator.builtinOptions().orElse(NO_OPTIONS);
        OperatorRules checked = new OperatorRules(subgraph, operator, options, path);
        String unknown = UNKNOWN.get(type);
        checked.require(
                unknown == null,
                ".opcode_index",
                "djl-plan does not read the options of " + unknown + ", so it cannot check them");
        checked.checkParameters(type);
        checked.checkSparse(file, type);
        Scaled scaled = SCALED.get(type);
        if (scaled != null) {
            checked.checkScales(scaled);
        }
    }

    // ---- parameters ------------------------------------------------------------------------

    private void checkParameters(String type) {
        switch (type) {
            case "CONV_2D" -> checkConvolution("Conv2DOptions");
            case "DEPTHWISE_CONV_2D" -> checkConvolution("DepthwiseConv2DOptions");
            case "TRANSPOSE_CONV" -> checkTransposed();
            case "CONV_3D", "CONV_3D_TRANSPOSE" -> checkVolume();
            case "AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D" -> checkPool();
            case "RESHAPE" -> checkShape();
            case "SPACE_TO_DEPTH" ->
                    requireBetween("SpaceToDepthOptions", "block_size", 1, LARGEST_STRIDE);
            case "DEPTH_TO_SPACE" ->
                    requireBetween("DepthToSpaceOptions", "block_size", 1, LARGEST_STRIDE);
            case "LOCAL_RESPONSE_NORMALIZATION" ->
                    requireBetween(
                            "LocalResponseNormalizationOptions", "radius", 0, LARGEST_WINDOW);
            case "FAKE_QUANT" -> requireBetween("FakeQuantOptions", "num_bits", 2, 16);
            case "SVDF" -> requireBetween("SVDFOptions", "rank", 1, LARGEST_WINDOW);
            case "FULLY_CONNECTED" -> checkFormat();
            case "LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM" -> checkIntermediates();
            // Without their options these call the first graph, which may be the one they are in.
            case "IF" -> requireOptions("IfOptions");
            case "WHILE" -> requireOptions("WhileOptions");
            case "CALL_ONCE" -> requireOptions("CallOnceOptions");
            // STABLEHLO_COMPOSITE
            case "BUILTIN_206" -> checkComposite();
            default -> {
                // The kernels of other types check their parameters.
            }
        }
    }

    /** The engine reads both fields without checking that they are stored. */
    private void checkComposite() {
        requireOptions("StableHLOCompositeOptions");
        for (String field : List.of("name", "composite_attributes")) {
            boolean there = options.fields().containsKey(field);
            require(there, ".builtin_options_2." + field, "is missing");
        }
    }

    private void checkConvolution(String type) {
        requireOptions(type);
        requireBetween("stride_w", 1, LARGEST_STRIDE);
        requireBetween("stride_h", 1, LARGEST_STRIDE);
        requireBetween("dilation_w_factor", 1, LARGEST_DILATION);
        requireBetween("dilation_h_factor", 1, LARGEST_DILATION);
        requireWindow(1, options.intValue("dilation_h_factor"));
        requireWindow(2, options.intValue("dilation_w_factor"));
        requireFilter();
    }

    private void checkTransposed() {
        requireOptions("TransposeConvOptions");
        requireBetween("stride_w", 1, LARGEST_STRIDE);
        requireBetween("stride_h", 1, LARGEST_STRIDE);
        requireFilter();
    }

    private void checkVolume() {
        requireOptions("Conv3DOptions");
        List<String> axes = List.of("d", "h", "w");
        for (int i = 0; i < axes.size(); i++) {
            String dilation = "dilation_" + axes.get(i) + "_factor";
            requireBetween("stride_" + axes.get(i), 1, LARGEST_STRIDE);
            requireBetween(dilation, 1, LARGEST_DILATION);
            requireWindow(i, options.intValue(dilation));
        }
        requireFilter();
    }

    private void checkPool() {
        requireOptions("Pool2DOptions");
        for (String field : List.of("stride_w", "stride_h", "filter_width", "filter_height")) {
            requireBetween(field, 1, LARGEST_WINDOW);
        }
    }

    /** −1 stands for the number of elements divided by the other dimensions. */
    private void checkShape() {
        if (operator.inputs().size() == 1 && options.type().equals("ReshapeOptions")) {
            List<Integer> shape = options.ints("new_shape");
            boolean sound = !shape.contains(-1) || !shape.contains(0);
            require(sound, ".builtin_options.new_shape", "both 0 and -1");
        }
    }

    /** Kernels do not check the sizes of filters in the other format, nor of their workspace. */
    private void checkFormat() {
        if (options.type().equals("FullyConnectedOptions")) {
            int format = options.intValue("weights_format");
            require(format == 0, ".builtin_options.weights_format", "format " + format);
        }
    }

    /** Kernels of integers read the scales of these tensors whether there are any or not. */
    private void checkIntermediates() {
        List<Integer> ids = operator.intermediates();
        boolean wide = ids.size() <= HIDDEN + 1;
        boolean normalized = input(FORGET_NORMALIZATION).isPresent();
        boolean integers = isOf(ElementType.INT8, 0);
        for (int i = 0; i < ids.size(); i++) {
            boolean read = integers && (!wide || normalized || i == HIDDEN);
            require(!read || hasScale(ids.get(i)), ".intermediates[" + i + "]", "no scale");
        }
    }

    private boolean hasScale(int id) {
        return id != TfLiteOperator.ABSENT
                && subgraph.tensors().get(id).quantization().stream()
                        .anyMatch(quantization -> !quantization.scale().isEmpty());
    }

    private void requireOptions(String type) {
        boolean there = options.type().equals(type);
        require(there, ".builtin_options", "no " + type);
    }

    private void requireBetween(String type, String field, int least, int most) {
        requireOptions(type);
        requireBetween(field, least, most);
    }

    private void requireBetween(String field, int least, int most) {
        int value = options.intValue(field);
        require(
                value >= least && value <= most,
                ".builtin_options." + field,
                value + " is not between " + least + " and " + most);
    }

    /**
     * A filter is nearly always a constant; otherwise the shape that the engine computes is checked
     * later.
     */
    private void requireWindow(int axis, int dilation) {
        Optional<TfLiteTensor> filter = input(FILTER);
        if (filter.isPresent() && axis < filter.get().shape().size()) {
            long taps = filter.get().shape().get(axis);
            require(
                    (taps - 1) * dilation < LARGEST_WINDOW,
                    ".inputs[" + FILTER + "]",
                    taps + " elements of a filter that are " + dilation + " apart");
        }
    }

    private void requireFilter() {
        Optional<TfLiteTensor> filter = input(FILTER);
        boolean empty = filter.isPresent() && filter.get().shape().contains(0);
        require(!empty, ".inputs[" + FILTER + "]", "a filter without elements");
    }

    // ---- sparse constants ------------------------------------------------------------------

    /** Kernels read a constant as dense, except two that know how it is stored. */
    private void checkSparse(TfLiteFile file, String type) {
        for (int i = 0; i < operator.inputs().size(); i++) {
            Optional<TfLiteTensor> tensor = input(i);
            if (tensor.isEmpty()
                    || tensor.get().sparsity().isEmpty()
                    || tensor.get().buffer() == 0) {
                continue;
            }
            boolean filter = type.equals("FULLY_CONNECTED") && i == FILTER;
            if (filter) {
                checkSparseFilter(tensor.get());
            }
            int stored = file.buffers().get(tensor.get().buffer()).sizeBytes();
            // TensorFlow Lite 2.6.2 reads a sparse filter as dense if the image has integers.
            boolean known =
                    type.equals("DENSIFY")
                            || (filter && isOf(ElementType.FLOAT32, 0))
                            || file.codeOf(operator).isCustom();
            require(
                    known || stored >= tensor.get().sizeBytes(),
                    ".inputs[" + i + "]",
                    "a sparse constant, which the operator may read as dense");
        }
    }

    /** The kernel expects rows that list their columns, or blocks of columns, one after another. */
    private void checkSparseFilter(TfLiteTensor filter) {
        FlatTable sparsity = filter.sparsity().orElseThrow();
        List<FlatTable> levels = sparsity.tables("dim_metadata");
        List<Integer> order = sparsity.ints("traversal_order");
        List<Integer> blocked = sparsity.ints("block_map");
        boolean floats = filter.elementType() == ElementType.FLOAT32;
        boolean rows =
                filter.shape().size() == 2
                        && levels.size() >= 2
                        && levels.get(0).intValue("format") == SparsityCheck.DENSE
                        && levels.get(1).intValue("format") == SparsityCheck.SPARSE;
        boolean columns =
                levels.size() == 2
                        ? floats && order.equals(List.of(0, 1))
                        : order.equals(List.of(0, 1, 2))
                                && blocked.equals(List.of(1))
                                && levels.get(2).intValue("dense_size")
                                        == (floats ? BLOCK_OF_FLOATS : BLOCK_OF_INTEGERS);
        require(rows && columns, ".inputs[" + FILTER + "]", "a sparse filter in another order");
    }

    // ---- scales ----------------------------------------------------------------------------

    private static final ImmutableSet<ElementType> QUANTIZED =
            ImmutableSet.of(ElementType.INT8, ElementType.UINT8, ElementType.INT16);

    /** Kernels abort the process if they cannot convert a scale to a multiplier. */
    private void checkScales(Scaled scaled) {
        double largest = 0;
        List<Integer> inputs = operator.inputs();
        for (int i = 0; i < inputs.size(); i++) {
            if (inputs.get(i) != TfLiteOperator.ABSENT) {
                TfLiteTensor tensor = subgraph.tensors().get(inputs.get(i));
                largest = Math.max(largest, scale(tensor, scaled, ".inputs[" + i + "]"));
            }
        }
        List<Integer> outputs = operator.presentOutputs();
        if (outputs.isEmpty()) {
            return;
        }
        TfLiteTensor result = subgraph.tensors().get(outputs.get(0));
        double scale = scale(result, scaled, ".outputs[0]");
        if (scale > 0 && largest > 0) {
            boolean wide = result.elementType() == ElementType.INT16;
            double most = wide ? LARGEST_SUM_OF_16_BITS : LARGEST_SUM;
            double ratio = largest / scale;
            if (scaled == Scaled.SQUARE) {
                most = LARGEST_SQUARE;
                ratio *= largest;
            }
            boolean compared = scaled == Scaled.SUM || scaled == Scaled.SQUARE;
            boolean fits = !compared || ratio < most;
            require(fits, ".outputs[0]", "a scale of " + scale + " for inputs of " + largest);
        }
    }

    private boolean hasScales() {
        return Stream.concat(operator.presentInputs().stream(), operator.presentOutputs().stream())
                .map(id -> subgraph.tensors().get(id).quantization())
                .anyMatch(
                        quantization -> quantization.filter(q -> !q.scale().isEmpty()).isPresent());
    }

    /** Returns the scale of a quantized tensor, 0 for other tensors. */
    private double scale(TfLiteTensor tensor, Scaled scaled, String field) {
        if (!QUANTIZED.contains(tensor.elementType())) {
            return 0;
        }
        List<Float> scales =
                tensor.quantization().map(TfLiteTensor.Quantization::scale).orElse(List.of());
        float least = scaled == Scaled.COMPARISON ? SMALLEST_COMPARED : SMALLEST_SCALE;
        for (float scale : scales) {
            require(scale >= least && scale <= LARGEST_SCALE, field, "a scale of " + scale);
        }
        // 16-bit integers may be unquantized, but then no operand of the operator is quantized.
        boolean whole =
                tensor.elementType() == ElementType.INT16
                        && scaled != Scaled.FUNCTION
                        && !hasScales();
        require(!scales.isEmpty() || whole, field, "no scale");
        return scales.isEmpty() ? 0 : scales.get(0);
    }

    // ---- operands --------------------------------------------------------------------------

    private Optional<TfLiteTensor> input(int position) {
        boolean there =
                position < operator.inputs().size()
                        && operator.inputs().get(position) != TfLiteOperator.ABSENT;
        return there
                ? Optional.of(subgraph.tensors().get(operator.inputs().get(position)))
                : Optional.empty();
    }

    private boolean isOf(ElementType type, int position) {
        return input(position).filter(tensor -> tensor.elementType() == type).isPresent();
    }

    private void require(boolean condition, String field, String problem) {
        if (!condition) {
            throw new InvalidModelException(path + field, problem);
        }
    }
}
