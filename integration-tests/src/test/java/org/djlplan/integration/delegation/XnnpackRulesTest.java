package org.djlplan.integration.delegation;

import static org.djlplan.memplan.graph.ElementType.FLOAT16;
import static org.djlplan.memplan.graph.ElementType.FLOAT32;
import static org.djlplan.memplan.graph.ElementType.INT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
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
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.study.delegation.XnnpackRules;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the table of XNNPACK's rules with the operators that XNNPACK takes. */
@Tag("every-djl")
class XnnpackRulesTest {

    private static final Form IMAGE = Form.of(FLOAT32, 1, 8, 8, 4);
    private static final int TANH = 4;

    @TempDir Path folder;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    /**
     * A model of one operator.
     *
     * @param name the name of the case
     * @param operator adds the operator and returns its output
     * @param reason why release 2.6 does not delegate the operator; empty if it does
     * @param later why later releases do not delegate the operator
     */
    private record Case(
            String name, ToIntFunction<ModelSketch> operator, String reason, String later) {

        Case(String name, ToIntFunction<ModelSketch> operator, String reason) {
            this(name, operator, reason, reason);
        }

        Case takenLater() {
            return new Case(name, operator, reason, "");
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static Case unary(String type, String reason) {
        return new Case(
                type,
                model -> model.operator(type, Optional.empty(), IMAGE, model.input(IMAGE)),
                reason);
    }

    private static Case with(
            String name, String type, FlatTable options, Form in, Form out, String reason) {
        return new Case(
                name,
                model -> model.operator(type, Optional.of(options), out, model.input(in)),
                reason);
    }

    private static Case binary(String type, FlatTable options, Form form, String reason) {
        return new Case(
                type + " of " + form.type() + " " + options,
                model ->
                        model.operator(
                                type,
                                Optional.of(options),
                                form,
                                model.input(form),
                                model.input(form)),
                reason);
    }

    private static Case weighted(
            String name,
            String type,
            FlatTable options,
            Form output,
            Form weights,
            boolean constant,
            boolean bias,
            String reason) {
        return new Case(
                name,
                model -> {
                    int x = model.input(IMAGE);
                    int filter = constant ? zeros(model, weights) : model.input(weights);
                    int[] operands =
                            bias
                                    ? new int[] {x, filter, zeros(model, Form.of(FLOAT32, 4))}
                                    : new int[] {x, filter};
                    return model.operator(type, Optional.of(options), output, operands);
                },
                reason);
    }

    private static Case indexed(
            String name,
            String type,
            Optional<FlatTable> options,
            Form output,
            Optional<int[]> constant,
            Form ofInput,
            String reason) {
        return new Case(
                name,
                model -> {
                    int x = model.input(IMAGE);
                    int operand =
                            constant.isPresent()
                                    ? ints(model, ofInput, constant.get())
                                    : model.input(ofInput);
                    return model.operator(type, options, output, x, operand);
                },
                reason);
    }

    static int ints(ModelSketch model, Form form, int[] values) {
        ByteBuffer content = ByteBuffer.allocateDirect(form.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            content.putInt(value);
        }
        return model.constant(form, content.rewind());
    }

    static int zeros(ModelSketch model, Form form) {
        return model.constant(form, ByteBuffer.allocateDirect(form.bytes()));
    }

    static List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        for (String type :
                List.of(
                        "ABS",
                        "CEIL",
                        "ELU",
                        "FLOOR",
                        "HARD_SWISH",
                        "LOGISTIC",
                        "NEG",
                        "RELU",
                        "RELU6",
                        "RELU_N1_TO_1",
                        "ROUND",
                        "SQRT",
                        "SQUARE")) {
            cases.add(unary(type, ""));
        }
        for (String type : List.of("TANH", "SIN", "COS", "EXP", "RSQRT")) {
            cases.add(unary(type, "XNNPACK 2.6 has no " + type).takenLater());
        }
        cases.add(unary("LOG", "has no LOG"));
        cases.add(
                with(
                        "leaky",
                        "LEAKY_RELU",
                        FlatTable.of("LeakyReluOptions").with("alpha", .1f),
                        IMAGE,
                        IMAGE,
                        ""));
        cases.add(
                with(
                        "softmax",
                        "SOFTMAX",
                        FlatTable.of("SoftmaxOptions").with("beta", 1f),
                        IMAGE,
                        IMAGE,
                        ""));
        cases.add(
                with(
                        "softmax, beta 2",
                        "SOFTMAX",
                        FlatTable.of("SoftmaxOptions").with("beta", 2f),
                        IMAGE,
                        IMAGE,
                        "beta must be 1"));
        FlatTable blocks = FlatTable.of("DepthToSpaceOptions");
        cases.add(
                with(
                        "depth to space",
                        "DEPTH_TO_SPACE",
                        blocks.with("block_size", 2),
                        IMAGE,
                        Form.of(FLOAT32, 1, 16, 16, 1),
                        ""));
        FlatTable pool = FlatTable.of("Pool2DOptions").with("stride_w", 2).with("stride_h", 2);
        FlatTable window = pool.with("filter_width", 2).with("filter_height", 2);
        FlatTable point = pool.with("filter_width", 1).with("filter_height", 1);
        for (String type : List.of("AVERAGE_POOL_2D", "MAX_POOL_2D")) {
            cases.add(with(type, type, window, IMAGE, Form.of(FLOAT32, 1, 4, 4, 4), ""));
            cases.add(
                    with(
                            type + " 1x1",
                            type,
                            point,
                            IMAGE,
                            Form.of(FLOAT32, 1, 4, 4, 4),
                            "one element must have no stride"));
        }
        for (String type : List.of("Add", "Sub", "Mul", "Div")) {
            FlatTable options = FlatTable.of(type + "Options");
            String builtin = type.toUpperCase(Locale.ROOT);
            cases.add(binary(builtin, options, IMAGE, ""));
            cases.add(
                    binary(
                            builtin,
                            options,
                            Form.of(INT32, 1, 8, 8, 4),
                            "only, by default; an input is INT32"));
            cases.add(
                    binary(
                            builtin,
                            options.with("fused_activation_function", TANH),
                            IMAGE,
                            "a fused activation must be"));
        }
        for (String type : List.of("MAXIMUM", "MINIMUM")) {
            cases.add(binary(type, FlatTable.of("MaximumMinimumOptions"), IMAGE, ""));
        }
        cases.add(
                binary("SQUARED_DIFFERENCE", FlatTable.of("SquaredDifferenceOptions"), IMAGE, ""));

        FlatTable conv = FlatTable.of("Conv2DOptions").with("stride_w", 1).with("stride_h", 1);
        Form filter = Form.of(FLOAT32, 4, 3, 3, 4);
        cases.add(weighted("conv", "CONV_2D", conv, IMAGE, filter, true, true, ""));
        cases.add(
                weighted(
                        "conv, given filter",
                        "CONV_2D",
                        conv,
                        IMAGE,
                        filter,
                        false,
                        true,
                        "only if its input 1 is a constant"));
        FlatTable depthwise =
                FlatTable.of("DepthwiseConv2DOptions")
                        .with("stride_w", 1)
                        .with("stride_h", 1)
                        .with("depth_multiplier", 1);
        Form taps = Form.of(FLOAT32, 1, 3, 3, 4);
        cases.add(
                weighted("depthwise", "DEPTHWISE_CONV_2D", depthwise, IMAGE, taps, true, true, ""));
        cases.add(
                weighted(
                        "depthwise, no bias",
                        "DEPTHWISE_CONV_2D",
                        depthwise,
                        IMAGE,
                        taps,
                        true,
                        false,
                        "with a bias only"));
        cases.add(
                weighted(
                        "depthwise, given filter",
                        "DEPTHWISE_CONV_2D",
                        depthwise,
                        IMAGE,
                        taps,
                        false,
                        true,
                        "only if its input 1 is a constant"));
        FlatTable dense = FlatTable.of("FullyConnectedOptions");
        Form rows = Form.of(FLOAT32, 4, 256);
        Form row = Form.of(FLOAT32, 1, 4);
        cases.add(weighted("dense", "FULLY_CONNECTED", dense, row, rows, true, true, ""));
        cases.add(
                weighted(
                        "dense, given weights",
                        "FULLY_CONNECTED",
                        dense,
                        row,
                        rows,
                        false,
                        true,
                        "only if its input 1 is a constant"));
        cases.add(
                weighted(
                        "slopes",
                        "PRELU",
                        FlatTable.of("AbsOptions"),
                        IMAGE,
                        Form.of(FLOAT32, 1, 1, 4),
                        true,
                        false,
                        ""));
        cases.add(
                weighted(
                        "given slopes",
                        "PRELU",
                        FlatTable.of("AbsOptions"),
                        IMAGE,
                        Form.of(FLOAT32, 1, 1, 4),
                        false,
                        false,
                        "only if its input 1 is a constant"));

        FlatTable keep = FlatTable.of("ReducerOptions").with("keep_dims", true);
        FlatTable drop = FlatTable.of("ReducerOptions").with("keep_dims", false);
        Form two = Form.of(INT32, 2);
        Optional<int[]> spatial = Optional.of(new int[] {1, 2});
        cases.add(
                indexed(
                        "mean",
                        "MEAN",
                        Optional.of(keep),
                        Form.of(FLOAT32, 1, 1, 1, 4),
                        spatial,
                        two,
                        ""));
        cases.add(
                indexed(
                        "mean, dimensions dropped",
                        "MEAN",
                        Optional.of(drop),
                        row,
                        spatial,
                        two,
                        ""));
        cases.add(
                indexed(
                                "mean of channels",
                                "MEAN",
                                Optional.of(keep),
                                Form.of(FLOAT32, 1, 8, 1, 1),
                                Optional.of(new int[] {2, 3}),
                                two,
                                "only a mean over height and width")
                        .takenLater());
        Form padding = Form.of(INT32, 4, 2);
        Form padded = Form.of(FLOAT32, 1, 10, 8, 4);
        cases.add(
                indexed(
                        "pad",
                        "PAD",
                        Optional.empty(),
                        padded,
                        Optional.of(new int[] {0, 0, 1, 1, 0, 0, 0, 0}),
                        padding,
                        ""));
        Form shape = Form.of(INT32, 2);
        cases.add(
                indexed(
                        "reshape",
                        "RESHAPE",
                        Optional.empty(),
                        Form.of(FLOAT32, 1, 256),
                        Optional.of(new int[] {1, 256}),
                        shape,
                        ""));
        FlatTable resize = FlatTable.of("ResizeBilinearOptions");
        cases.add(
                indexed(
                        "resize",
                        "RESIZE_BILINEAR",
                        Optional.of(resize),
                        Form.of(FLOAT32, 1, 16, 16, 4),
                        Optional.of(new int[] {16, 16}),
                        two,
                        ""));

        Form volume = Form.of(FLOAT32, 8, 8, 4);
        cases.add(
                new Case(
                        "mean of three dimensions",
                        m ->
                                m.operator(
                                        "MEAN",
                                        Optional.of(keep),
                                        Form.of(FLOAT32, 8, 1, 1),
                                        m.input(volume),
                                        ints(m, two, new int[] {1, 2})),
                        "MEAN of 4 dimensions only",
                        ""));
        cases.add(
                new Case(
                        "unpacking an input",
                        model ->
                                model.operator(
                                        "DEQUANTIZE",
                                        Optional.empty(),
                                        IMAGE,
                                        model.input(Form.of(FLOAT16, 1, 8, 8, 4))),
                        "DEQUANTIZE of constants only",
                        "by default; an input is FLOAT16"));
        return cases;
    }

    @ParameterizedTest
    @MethodSource("cases")
    void broken_oneOperator_isWhatTheDelegateSays(Case one) throws Exception {
        boolean first = EngineLibrary.loaded().version().startsWith("2.6.");
        assertRule(folder, one.operator(), first ? one.reason() : one.later());
    }

    /** Asserts that the rules predict what the delegate does with a model of one operator. */
    static void assertRule(Path folder, ToIntFunction<ModelSketch> operator, String reason)
            throws Exception {
        ModelSketch model = new ModelSketch();
        Path own = Files.createTempDirectory(folder, "model");
        Path file = model.output(operator.applyAsInt(model)).write(own.resolve("m.tflite"));
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), "m");
        List<Set<Integer>> taken = FixedChoice.partitions(file, Delegates.XNNPACK);
        XnnpackRules rules = new XnnpackRules(graph, EngineLibrary.loaded().version());
        if (reason.isEmpty()) {
            assertEquals(List.of(Set.of(0)), taken, rules.refusal(0));
            assertEquals(Optional.empty(), rules.broken(0));
        } else {
            assertEquals(List.of(), taken);
            assertTrue(rules.refusal(0).contains(reason), rules.refusal(0));
        }
    }
}
