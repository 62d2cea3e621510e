package org.djlplan.integration.delegation;

import static org.djlplan.integration.delegation.XnnpackRulesTest.ints;
import static org.djlplan.integration.delegation.XnnpackRulesTest.zeros;
import static org.djlplan.memplan.graph.ElementType.FLOAT32;
import static org.djlplan.memplan.graph.ElementType.INT32;
import static org.djlplan.memplan.graph.ElementType.INT8;
import static org.djlplan.memplan.graph.ElementType.UINT8;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Compares the table of XNNPACK's rules with the operators that XNNPACK takes: 8-bit operators, and
 * operators that only later releases take.
 */
@Tag("djl-current")
class XnnpackEightBitsTest {

    /** Operators that XNNPACK takes only with floats. */
    private static final Set<String> FLOATS_ONLY =
            ImmutableSet.of(
                    "ABS",
                    "AVERAGE_POOL_2D",
                    "COS",
                    "DIV",
                    "EXP",
                    "HARD_SWISH",
                    "MAXIMUM",
                    "MINIMUM",
                    "NEG",
                    "RELU",
                    "RSQRT",
                    "SIN",
                    "SQUARED_DIFFERENCE");

    @TempDir Path folder;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    /** A model of one operator. */
    private record Case(String type, ToIntFunction<ModelSketch> operator) {}

    /** Models of one operator for images of a given type. */
    private static final class Cases {

        private final List<Case> all = new ArrayList<>();
        private final Form image;

        Cases(ElementType type) {
            Form plain = Form.of(type, 1, 8, 8, 4);
            image = type == FLOAT32 ? plain : plain.scaled(.5f, type == INT8 ? -3 : 120);
        }

        void unary(String type, Optional<FlatTable> options, Form output) {
            all.add(new Case(type, m -> m.operator(type, options, output, m.input(image))));
        }

        void unary(String type) {
            unary(type, Optional.empty(), image);
        }

        void binary(String type, FlatTable options, Form other, Form output) {
            all.add(
                    new Case(
                            type,
                            m ->
                                    m.operator(
                                            type,
                                            Optional.of(options),
                                            output,
                                            m.input(image),
                                            m.input(other))));
        }

        void indexed(String type, Optional<FlatTable> options, Form output, int[]... constants) {
            all.add(
                    new Case(
                            type,
                            m -> {
                                int[] operands = new int[constants.length + 1];
                                operands[0] = m.input(image);
                                for (int i = 0; i < constants.length; i++) {
                                    Form form = Form.of(INT32, constants[i].length);
                                    operands[i + 1] = ints(m, form, constants[i]);
                                }
                                return m.operator(type, options, output, operands);
                            }));
        }
    }

    private static List<Case> cases(ElementType type) {
        Cases cases = new Cases(type);
        Form image = cases.image;
        int least = type == INT8 ? -128 : 0;
        for (String unary : List.of("ABS", "COS", "EXP", "HARD_SWISH", "NEG")) {
            cases.unary(unary);
        }
        for (String unary : List.of("RELU", "RSQRT", "SIN", "ELU")) {
            cases.unary(unary);
        }
        boolean floats = type == FLOAT32;
        cases.unary("LOGISTIC", Optional.empty(), floats ? image : image.scaled(1f / 256, least));
        cases.unary("TANH", Optional.empty(), floats ? image : image.scaled(1f / 128, least + 128));
        cases.unary("LEAKY_RELU", options("LeakyRelu", "alpha", .1f), image);
        cases.unary(
                "DEPTH_TO_SPACE",
                options("DepthToSpace", "block_size", 2),
                image.shaped(List.of(1, 16, 16, 1)));
        cases.unary(
                "SPACE_TO_DEPTH",
                options("SpaceToDepth", "block_size", 2),
                image.shaped(List.of(1, 4, 4, 16)));
        FlatTable pool =
                FlatTable.of("Pool2DOptions")
                        .with("stride_w", 2)
                        .with("stride_h", 2)
                        .with("filter_width", 2)
                        .with("filter_height", 2);
        for (String unary : List.of("MAX_POOL_2D", "AVERAGE_POOL_2D")) {
            cases.unary(unary, Optional.of(pool), image.shaped(List.of(1, 4, 4, 4)));
        }
        for (String binary : List.of("Add", "Sub", "Mul", "Div")) {
            cases.binary(
                    binary.toUpperCase(Locale.ROOT),
                    FlatTable.of(binary + "Options"),
                    image,
                    image);
        }
        for (String binary : List.of("MAXIMUM", "MINIMUM")) {
            cases.binary(binary, FlatTable.of("MaximumMinimumOptions"), image, image);
        }
        cases.binary("SQUARED_DIFFERENCE", FlatTable.of("SquaredDifferenceOptions"), image, image);
        cases.binary(
                "CONCATENATION",
                FlatTable.of("ConcatenationOptions").with("axis", 3),
                image,
                image.shaped(List.of(1, 8, 8, 8)));
        cases.binary(
                "BATCH_MATMUL",
                FlatTable.of("BatchMatMulOptions"),
                image.shaped(List.of(1, 8, 4, 8)),
                image.shaped(List.of(1, 8, 8, 8)));
        for (String reduction : List.of("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN")) {
            cases.indexed(
                    reduction,
                    options("Reducer", "keep_dims", true),
                    image.shaped(List.of(1, 1, 1, 4)),
                    new int[] {1, 2});
        }
        cases.indexed(
                "TRANSPOSE",
                Optional.of(FlatTable.of("TransposeOptions")),
                image.shaped(List.of(1, 8, 4, 8)),
                new int[] {0, 1, 3, 2});
        cases.indexed(
                "RESHAPE", Optional.empty(), image.shaped(List.of(1, 256)), new int[] {1, 256});
        cases.indexed(
                "RESIZE_BILINEAR",
                Optional.of(FlatTable.of("ResizeBilinearOptions")),
                image.shaped(List.of(1, 16, 16, 4)),
                new int[] {16, 16});
        Form part = image.shaped(List.of(1, 4, 4, 4));
        int[] from = {0, 0, 0, 0};
        int[] size = {1, 4, 4, 4};
        cases.indexed("SLICE", Optional.of(FlatTable.of("SliceOptions")), part, from, size);
        cases.indexed(
                "STRIDED_SLICE",
                Optional.of(FlatTable.of("StridedSliceOptions")),
                part,
                from,
                size,
                new int[] {1, 1, 1, 1});
        return cases.all;
    }

    private static Optional<FlatTable> options(String type, String field, Object value) {
        return Optional.of(FlatTable.of(type + "Options").with(field, value));
    }

    /** Returns why an operator is not taken; empty if it is. */
    private static String reason(String operator, ElementType type) throws Exception {
        boolean withoutMatrices = EngineLibrary.loaded().version().startsWith("2.20.");
        boolean taken =
                type == FLOAT32
                        || (!FLOATS_ONLY.contains(operator)
                                && !(operator.equals("ELU") && type == UINT8)
                                && !(operator.equals("BATCH_MATMUL") && withoutMatrices));
        return taken ? "" : "only, by default; an input is " + type;
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "INT8", "UINT8"})
    void broken_oneOperator_isWhatTheDelegateSays(ElementType type) throws Exception {
        for (Case one : cases(type)) {
            XnnpackRulesTest.assertRule(folder, one.operator(), reason(one.type(), type));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"INT8", "UINT8"})
    void broken_toAndFromFloats_isWhatTheDelegateSays(ElementType type) throws Exception {
        Form floats = Form.of(FLOAT32, 1, 8, 8, 4);
        Form steps = Form.of(type, 1, 8, 8, 4).scaled(.5f, type == INT8 ? -3 : 120);
        XnnpackRulesTest.assertRule(
                folder,
                m -> m.operator("DEQUANTIZE", Optional.empty(), floats, m.input(steps)),
                "");
        Form signed = Form.of(INT8, 1, 8, 8, 4).scaled(.5f, -3);
        XnnpackRulesTest.assertRule(
                folder, m -> m.operator("QUANTIZE", Optional.empty(), signed, m.input(floats)), "");
    }

    /** Biases of quantized convolutions are 32-bit integers. */
    @Test
    void broken_convolution_matchesTheDelegate() throws Exception {
        Form image = Form.of(INT8, 1, 8, 8, 4).scaled(.5f, -3);
        Form filter = Form.of(INT8, 4, 3, 3, 4).scaled(.1f, 0);
        Form bias = Form.of(INT32, 4).scaled(.05f, 0);
        FlatTable options = FlatTable.of("Conv2DOptions").with("stride_w", 1).with("stride_h", 1);
        XnnpackRulesTest.assertRule(
                folder,
                m ->
                        m.operator(
                                "CONV_2D",
                                Optional.of(options),
                                image,
                                m.input(image),
                                zeros(m, filter),
                                zeros(m, bias)),
                "");
        XnnpackRulesTest.assertRule(
                folder,
                m ->
                        m.operator(
                                "CONV_2D",
                                Optional.of(options),
                                image,
                                m.input(image),
                                m.input(filter),
                                zeros(m, bias)),
                "only if its input 1 is a constant");
    }
}
