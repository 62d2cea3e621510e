package org.djlplan.memplan.internal.source.tflite;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OperatorRulesTest {

    private static final int INT8 = 9;

    /**
     * A model of one operator over three tensors, an image, a filter, and a result, beside an empty
     * graph.
     */
    private static TfLiteFile model(
            String operator, Optional<FlatTable> options, List<TfLiteTensor> tensors) {
        return model(TfLiteOperatorCode.builtin(operator, 1), options, tensors);
    }

    private static TfLiteFile model(
            TfLiteOperatorCode code, Optional<FlatTable> options, List<TfLiteTensor> tensors) {
        List<Integer> inputs = List.of(0, 1);
        List<Integer> outputs = List.of(2);
        TfLiteOperator operator =
                SampleModels.operator(0, inputs, outputs, options, List.of(), List.of());
        return SampleModels.file(
                List.of(code),
                List.of(TfLiteBytes.EMPTY),
                new TfLiteSubgraph("main", tensors, inputs, outputs, List.of(operator)),
                SampleModels.graphWithoutTensors());
    }

    private static List<TfLiteTensor> floats(List<Integer> filter) {
        return List.of(
                TfLiteTensor.plain(List.of(1, 8, 8, 3), TfLiteTensor.FLOAT32, 0, "image"),
                TfLiteTensor.plain(filter, TfLiteTensor.FLOAT32, 0, "filter"),
                TfLiteTensor.plain(List.of(1, 8, 8, 3), TfLiteTensor.FLOAT32, 0, "result"));
    }

    private static FlatTable options(String type) {
        FlatTable options = FlatTable.of(type);
        for (Schema.Field field : Schema.table(type).fields().values()) {
            if (field.kind() == Schema.Kind.INT) {
                options = options.with(field.name(), 1);
            }
        }
        return options;
    }

    private static InvalidModelException refusal(TfLiteFile model) {
        return assertThrows(InvalidModelException.class, () -> OperatorRules.check(model));
    }

    @ParameterizedTest
    @CsvSource({
        "CONV_2D, Conv2DOptions, stride_w, 0",
        "CONV_2D, Conv2DOptions, stride_h, -1",
        "CONV_2D, Conv2DOptions, stride_w, 2147483647",
        "CONV_2D, Conv2DOptions, dilation_h_factor, 0",
        "DEPTHWISE_CONV_2D, DepthwiseConv2DOptions, dilation_w_factor, 1073741824",
        "TRANSPOSE_CONV, TransposeConvOptions, stride_w, 1073741824",
        "CONV_3D, Conv3DOptions, stride_d, 0",
        "MAX_POOL_2D, Pool2DOptions, filter_width, -2147483648",
        "AVERAGE_POOL_2D, Pool2DOptions, filter_height, 0",
        "SPACE_TO_DEPTH, SpaceToDepthOptions, block_size, 0",
        "LOCAL_RESPONSE_NORMALIZATION, LocalResponseNormalizationOptions, radius, -1",
        "FAKE_QUANT, FakeQuantOptions, num_bits, 100",
        "SVDF, SVDFOptions, rank, 0"
    })
    void check_parameterThatBreaksKernels_isRefusedByItsPlace(
            String operator, String type, String field, int value) {
        List<TfLiteTensor> tensors = floats(List.of(3, 3, 3, 3));
        FlatTable sound = options(type);
        if (field.equals("num_bits")) {
            sound = sound.with(field, 8);
        }
        TfLiteFile good = model(operator, Optional.of(sound), tensors);
        assertDoesNotThrow(() -> OperatorRules.check(good));
        InvalidModelException refused =
                refusal(model(operator, Optional.of(sound.with(field, value)), tensors));
        assertEquals("subgraphs[0].operators[0].builtin_options." + field, refused.path());
        assertTrue(refused.problem().startsWith(value + " "), refused.problem());
    }

    @Test
    void check_filterWithoutElements_isRefused() {
        TfLiteFile model =
                model(
                        "CONV_2D",
                        Optional.of(options("Conv2DOptions")),
                        floats(List.of(3, 0, 0, 3)));
        assertEquals("subgraphs[0].operators[0].inputs[1]", refusal(model).path());
    }

    @Test
    void check_tooLargeDilation_isRefused() {
        FlatTable wide = options("Conv2DOptions").with("dilation_h_factor", 1 << 15);
        TfLiteFile model = model("CONV_2D", Optional.of(wide), floats(List.of(1, 1025, 1, 3)));
        assertEquals("subgraphs[0].operators[0].inputs[1]", refusal(model).path());
    }

    @Test
    void check_convolutionWithoutOptions_isRefused() {
        TfLiteFile model = model("CONV_2D", Optional.empty(), floats(List.of(3, 3, 3, 3)));
        assertEquals("no Conv2DOptions", refusal(model).problem());
    }

    @ParameterizedTest
    @CsvSource({
        "IF, IfOptions",
        "WHILE, WhileOptions",
        "CALL_ONCE, CallOnceOptions",
    })
    void check_callWithoutItsOptions_isRefused(String operator, String type) {
        List<TfLiteTensor> tensors = floats(List.of(1));
        for (Optional<FlatTable> options :
                List.of(Optional.<FlatTable>empty(), Optional.of(FlatTable.of("AddOptions")))) {
            assertEquals("no " + type, refusal(model(operator, options, tensors)).problem());
        }
    }

    @Test
    void check_shuffledFilter_isRefused() {
        FlatTable rows = FlatTable.of("FullyConnectedOptions");
        List<TfLiteTensor> tensors = floats(List.of(4, 192));
        TfLiteFile usual = model("FULLY_CONNECTED", Optional.of(rows), tensors);
        assertDoesNotThrow(() -> OperatorRules.check(usual));
        FlatTable shuffled = rows.with("weights_format", 1);
        assertEquals(
                "subgraphs[0].operators[0].builtin_options.weights_format",
                refusal(model("FULLY_CONNECTED", Optional.of(shuffled), tensors)).path());
    }

    @ParameterizedTest
    @CsvSource({
        "190, STABLEHLO_SCATTER",
        "195, STABLEHLO_PAD",
        "198, STABLEHLO_REDUCE_WINDOW",
        "200, STABLEHLO_WHILE",
        "201, STABLEHLO_GATHER",
        "204, STABLEHLO_RNG_BIT_GENERATOR",
        "205, REDUCE_WINDOW",
        "209, STABLEHLO_CASE",
    })
    void check_operatorWithUnknownOptions_isRefusedByItsName(int number, String name) {
        TfLiteOperatorCode code = new TfLiteOperatorCode(number, "", 1);
        InvalidModelException refused = refusal(model(code, Optional.empty(), floats(List.of(1))));
        assertEquals("subgraphs[0].operators[0].opcode_index", refused.path());
        assertTrue(refused.problem().contains(" " + name + ","), refused.problem());
    }

    @Test
    void check_compositeWithoutWhatTheEngineReads_isRefused() {
        TfLiteOperatorCode composite = new TfLiteOperatorCode(206, "", 1);
        List<TfLiteTensor> tensors = floats(List.of(1));
        String operator = "subgraphs[0].operators[0].";
        assertEquals(
                operator + "builtin_options",
                refusal(model(composite, Optional.empty(), tensors)).path());
        FlatTable options =
                FlatTable.of("StableHLOCompositeOptions").with("decomposition_subgraph_index", 1);
        assertEquals(
                operator + "builtin_options_2.name",
                refusal(model(composite, Optional.of(options), tensors)).path());
        FlatTable named = options.with("name", "odd");
        assertEquals(
                operator + "builtin_options_2.composite_attributes",
                refusal(model(composite, Optional.of(named), tensors)).path());
    }

    @Test
    void check_laterOperatorWithoutOptions_isAccepted() {
        TfLiteOperatorCode add = new TfLiteOperatorCode(163, "", 1);
        TfLiteFile model = model(add, Optional.empty(), floats(List.of(1, 8, 8, 3)));
        assertDoesNotThrow(() -> OperatorRules.check(model));
    }

    private static TfLiteTensor integers(Float... scales) {
        return new TfLiteTensor(
                List.of(4),
                List.of(),
                INT8,
                0,
                "integers",
                Optional.of(
                        new TfLiteTensor.Quantization(
                                List.of(),
                                List.of(),
                                List.of(scales),
                                List.of(),
                                Optional.empty(),
                                0)),
                false,
                Optional.empty(),
                false);
    }

    /** A recurrent layer whose tensors, from the second on, are inputs and intermediates. */
    private static TfLiteFile recurrent(
            TfLiteTensor image, List<Integer> inputs, List<Integer> intermediates) {
        List<TfLiteTensor> tensors = List.of(image, integers(), integers(0.5f), integers());
        List<Integer> outputs = List.of(3);
        TfLiteOperator layer =
                SampleModels.operator(
                        0, inputs, outputs, Optional.empty(), List.of(), intermediates);
        return SampleModels.file(
                List.of(TfLiteOperatorCode.builtin("UNIDIRECTIONAL_SEQUENCE_LSTM", 1)),
                List.of(TfLiteBytes.EMPTY),
                new TfLiteSubgraph("main", tensors, List.of(0, 1), outputs, List.of(layer)));
    }

    @Test
    void check_recurrentLayerOfIntegersWithoutAScaleThatIsRead_isRefused() {
        int none = 1;
        int scaled = 2;
        List<Integer> plain = List.of(0, 1);
        List<Integer> normalized = new ArrayList<>(Collections.nCopies(24, TfLiteOperator.ABSENT));
        normalized.set(0, 0);
        normalized.set(21, 1);
        List<Integer> hidden = List.of(none, none, none, none, scaled);
        List<Integer> narrow = new ArrayList<>(Collections.nCopies(12, scaled));
        TfLiteTensor image = integers(0.5f);
        TfLiteTensor floats = TfLiteTensor.plain(List.of(4), TfLiteTensor.FLOAT32, 0, "image");
        for (TfLiteFile sound :
                List.of(
                        recurrent(image, plain, hidden),
                        recurrent(image, normalized, Collections.nCopies(5, scaled)),
                        recurrent(image, plain, narrow),
                        recurrent(floats, plain, Collections.nCopies(5, none)))) {
            assertDoesNotThrow(() -> OperatorRules.check(sound));
        }
        assertEquals(
                "subgraphs[0].operators[0].intermediates[4]",
                refusal(recurrent(image, plain, Collections.nCopies(5, none))).path());
        assertEquals(
                "subgraphs[0].operators[0].intermediates[0]",
                refusal(recurrent(image, normalized, hidden)).path());
        narrow.set(11, TfLiteOperator.ABSENT);
        assertEquals(
                "subgraphs[0].operators[0].intermediates[11]",
                refusal(recurrent(image, plain, narrow)).path());
    }

    private static TfLiteFile sum(TfLiteTensor result) {
        return model(
                "ADD",
                Optional.of(FlatTable.of("AddOptions")),
                List.of(integers(0.5f), integers(0.25f), result));
    }

    @ParameterizedTest
    @ValueSource(floats = {0, -1, Float.NaN, Float.POSITIVE_INFINITY, 1e-7f, 1e30f})
    void check_sumWithAScaleThatHasNoMultiplier_isRefused(float scale) {
        assertEquals("subgraphs[0].operators[0].outputs[0]", refusal(sum(integers(scale))).path());
    }

    @Test
    void check_sumWithoutScales_isRefused() {
        assertEquals("no scale", refusal(sum(integers())).problem());
    }

    @Test
    void check_sumOfUsualScales_isAccepted() {
        assertDoesNotThrow(() -> OperatorRules.check(sum(integers(0.75f))));
        assertDoesNotThrow(() -> OperatorRules.check(sum(integers(1e-4f))));
    }

    @Test
    void read_parameterThatBreaksKernels_namesTheByte() throws Exception {
        FlatTable still = options("Conv2DOptions").with("stride_w", 0);
        ByteBuffer file =
                TfLiteWriter.toByteBuffer(
                        model("CONV_2D", Optional.of(still), floats(List.of(3, 3, 3, 3))));
        TfLiteFormatException refused =
                assertThrows(TfLiteFormatException.class, () -> TfLiteReader.read(file, "m"));
        assertTrue(refused.getMessage().matches("m: byte \\d+.*stride_w.*"), refused.getMessage());
    }
}
