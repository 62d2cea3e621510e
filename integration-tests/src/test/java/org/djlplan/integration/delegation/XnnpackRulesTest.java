package org.djlplan.integration.delegation;

import static org.djlplan.memplan.graph.ElementType.FLOAT32;
import static org.djlplan.memplan.graph.ElementType.INT32;
import static org.djlplan.memplan.graph.ElementType.INT8;
import static org.djlplan.memplan.graph.ElementType.UINT8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.study.delegation.XnnpackRules;
import org.djlplan.thirdparty.guava.primitives.Floats;
import org.djlplan.thirdparty.guava.primitives.Ints;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the table of XNNPACK's rules with the operators that XNNPACK takes. */
@OnEveryDjl
class XnnpackRulesTest {

    /**
     * Models of one operator, with: its options; its operands; its output; which 8-bit types it has
     * in a case, and whether XNNPACK takes those; why floats are refused, empty if they are taken;
     * why release 2.6 refuses them, if that differs.
     *
     * <p>An operand is a shape, "." for an image, "=" and the shape of a constant, or integers in
     * braces. A type other than the case's comes first. A step of an 8-bit output comes last.
     */
    private static final String MODELS =
            """
            ABS                              | . | . | refused
            CEIL                             | . | .
            COS                              | . | . | refused || has no
            ELU                              | . | . | signed
            EXP                              | . | . | refused || has no
            FLOOR                            | . | .
            HARD_SWISH                       | . | . | refused
            LOG                              | . | . || has no
            LOGISTIC                         | . | .~256 | taken
            NEG                              | . | . | refused
            RELU                             | . | . | refused
            RELU6                            | . | .
            RELU_N1_TO_1                     | . | .
            ROUND                            | . | .
            RSQRT                            | . | . | refused || has no
            SIN                              | . | . | refused || has no
            SQRT                             | . | .
            SQUARE                           | . | .
            TANH                             | . | .~128 | taken || has no
            LEAKY_RELU LeakyRelu alpha=.1    | . | . | taken
            SOFTMAX Softmax beta=1.          | . | .
            SOFTMAX Softmax beta=2.          | . | . || beta must be 1
            DEPTH_TO_SPACE DepthToSpace block_size=2 | . | 1,16,16,1 | taken
            SPACE_TO_DEPTH SpaceToDepth block_size=2 | . | 1,4,4,16 | taken || has no
            AVERAGE_POOL_2D $2x2             | . | 1,4,4,4 | refused
            AVERAGE_POOL_2D $1x1             | . | 1,4,4,4 || one element must have no stride
            MAX_POOL_2D $2x2                 | . | 1,4,4,4 | taken
            MAX_POOL_2D $1x1                 | . | 1,4,4,4 || one element must have no stride
            ADD Add                          | . . | . | taken
            SUB Sub                          | . . | . | taken
            MUL Mul                          | . . | . | taken
            DIV Div                          | . . | . | refused
            ADD Add                          | INT32:. INT32:. | INT32:. || $types INT32
            SUB Sub                          | INT32:. INT32:. | INT32:. || $types INT32
            MUL Mul                          | INT32:. INT32:. | INT32:. || $types INT32
            DIV Div                          | INT32:. INT32:. | INT32:. || $types INT32
            ADD Add $tanh                    | . . | . || a fused activation must be
            SUB Sub $tanh                    | . . | . || a fused activation must be
            MUL Mul $tanh                    | . . | . || a fused activation must be
            DIV Div $tanh                    | . . | . || a fused activation must be
            MAXIMUM MaximumMinimum           | . . | . | refused
            MINIMUM MaximumMinimum           | . . | . | refused
            SQUARED_DIFFERENCE SquaredDifference | . . | . | refused
            CONCATENATION Concatenation axis=3 | . . | 1,8,8,8 | taken || has no
            BATCH_MATMUL BatchMatMul         | . 1,8,4,8 | 1,8,8,8 | from 2.21 || has no
            CONV_2D Conv2D $step             | . =4,3,3,4 =4 | . | only signed
            CONV_2D Conv2D $step             | . 4,3,3,4 =4 | . | only signed | $constant
            DEPTHWISE_CONV_2D $depthwise     | . =1,3,3,4 =4 | .
            DEPTHWISE_CONV_2D $depthwise     | . =1,3,3,4 | . || with a bias only
            DEPTHWISE_CONV_2D $depthwise     | . 1,3,3,4 =4 | . || $constant
            FULLY_CONNECTED FullyConnected   | . =4,256 =4 | 1,4
            FULLY_CONNECTED FullyConnected   | . 4,256 =4 | 1,4 || $constant
            PRELU Abs                        | . =1,1,4 | .
            PRELU Abs                        | . 1,1,4 | . || $constant
            MEAN Reducer keep_dims=true      | . {1,2} | 1,1,1,4 | taken
            MEAN Reducer keep_dims=false     | . {1,2} | 1,4
            MEAN Reducer keep_dims=true      | . {2,3} | 1,8,1,1 ||| mean over height and width
            MEAN Reducer keep_dims=true      | 8,8,4 {1,2} | 8,1,1 ||| MEAN of 4 dimensions only
            SUM Reducer keep_dims=true       | . {1,2} | 1,1,1,4 | taken || has no
            REDUCE_MAX Reducer keep_dims=true | . {1,2} | 1,1,1,4 | taken || has no
            REDUCE_MIN Reducer keep_dims=true | . {1,2} | 1,1,1,4 | taken || has no
            PAD                              | . {0,0;1,1;0,0;0,0} | 1,10,8,4
            RESHAPE                          | . {1,256} | 1,256 | taken
            TRANSPOSE Transpose              | . {0,1,3,2} | 1,8,4,8 | taken || has no
            RESIZE_BILINEAR ResizeBilinear   | . {16,16} | 1,16,16,4 | taken
            SLICE Slice                      | . {0,0,0,0} {1,4,4,4} | 1,4,4,4 | taken || has no
            STRIDED_SLICE StridedSlice | . {0,0,0,0} {1,4,4,4} {1,1,1,1} | 1,4,4,4 | taken || has no
            DEQUANTIZE                       | FLOAT16:. | . || $types FLOAT16 | of constants only
            DEQUANTIZE                       | INT8:. | . ||| of constants only
            DEQUANTIZE                       | UINT8:. | . ||| of constants only
            QUANTIZE                         | . | INT8:. ||| has no
            """
                    .replace("$2x2", "$pool filter_width=2 filter_height=2")
                    .replace("$1x1", "$pool filter_width=1 filter_height=1")
                    .replace("$pool", "Pool2D stride_w=2 stride_h=2")
                    .replace("$depthwise", "DepthwiseConv2D $step depth_multiplier=1")
                    .replace("$step", "stride_w=1 stride_h=1")
                    .replace("$tanh", "fused_activation_function=4")
                    .replace("$constant", "only if its input 1 is a constant")
                    .replace("$types", "by default; an input is");

    @TempDir Path folder;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    /** A row of the table and a type. */
    private record Case(List<String> row, ElementType type) {

        Case(String line, ElementType type) {
            this(Stream.of((line + "| | | | | ").split("\\|")).map(String::strip).toList(), type);
        }

        /** Writes the model. */
        Path write(Path file) throws Exception {
            ModelSketch model = new ModelSketch();
            String[] words = row.get(0).split(" ");
            int[] operands =
                    Arrays.stream(row.get(1).split(" ")).mapToInt(o -> operand(model, o)).toArray();
            Form output = form(row.get(2));
            model.output(model.operator(words[0], options(words), output, operands));
            return model.write(file);
        }

        private static Optional<FlatTable> options(String... words) {
            if (words.length == 1) {
                return Optional.empty();
            }
            FlatTable options = FlatTable.of(words[1] + "Options");
            for (int i = 2; i < words.length; i++) {
                String[] parts = words[i].split("=", -1);
                Object value = Ints.tryParse(parts[1]);
                if (value == null) {
                    value = Floats.tryParse(parts[1]);
                }
                options = options.with(parts[0], value == null ? parts[1].equals("true") : value);
            }
            return Optional.of(options);
        }

        private int operand(ModelSketch model, String text) {
            if (text.startsWith("{")) {
                return integers(model, text.substring(1, text.length() - 1).split("[,;]"), text);
            }
            if (!text.startsWith("=")) {
                return model.input(form(text));
            }
            Form form = form(text.substring(1));
            if (type != FLOAT32) {
                boolean bias = form.shape().size() == 1;
                form = bias ? new Form(INT32, form.shape(), .05f, 0) : form.scaled(.1f, 0);
            }
            return model.constant(form, ByteBuffer.allocateDirect(form.bytes()));
        }

        private static int integers(ModelSketch model, String[] numbers, String text) {
            Form form = Form.of(INT32, numbers.length);
            if (text.contains(";")) {
                int rows = text.split(";").length;
                form = Form.of(INT32, rows, numbers.length / rows);
            }
            ByteBuffer content = ByteBuffer.allocateDirect(form.bytes());
            content.order(ByteOrder.LITTLE_ENDIAN);
            for (String number : numbers) {
                content.putInt(Integer.parseInt(number));
            }
            return model.constant(form, content.rewind());
        }

        private Form form(String text) {
            int colon = text.indexOf(':');
            ElementType own = colon < 0 ? type : ElementType.valueOf(text.substring(0, colon));
            String[] parts = text.substring(colon + 1).split("~", -1);
            String shape = parts[0].equals(".") ? "1,8,8,4" : parts[0];
            Form form =
                    Form.of(own, Stream.of(shape.split(",")).mapToInt(Integer::parseInt).toArray());
            if (own != INT8 && own != UINT8) {
                return form;
            }
            if (parts.length == 1) {
                return form.scaled(.5f, own == INT8 ? -3 : 120);
            }
            int steps = Integer.parseInt(parts[1]);
            return form.scaled(1f / steps, (own == INT8 ? -128 : 0) + 256 - steps);
        }

        /** Returns whether an engine of some version can have the model. */
        boolean exists(String version) {
            return type == FLOAT32
                    || (!version.startsWith("2.6.")
                            && !row.get(3).isEmpty()
                            && !(type == UINT8 && row.get(3).equals("only signed")));
        }

        /** Returns why XNNPACK does not take the operator; empty if it does. */
        String reason(String version) {
            boolean taken =
                    type == FLOAT32
                            || switch (row.get(3)) {
                                case "refused" -> false;
                                case "signed" -> type == INT8;
                                case "from 2.21" -> !version.startsWith("2.20.");
                                default -> true;
                            };
            if (!taken) {
                return "only, by default; an input is " + type;
            }
            boolean first = version.startsWith("2.6.") && !row.get(5).isEmpty();
            return row.get(first ? 5 : 4);
        }

        @Override
        public String toString() {
            return String.join(" ", row.subList(0, 3)) + " " + type;
        }
    }

    static Stream<Case> cases() throws Exception {
        StockInterpreter.loadEngine();
        String version = EngineLibrary.loaded().version();
        return MODELS.lines()
                .flatMap(line -> Stream.of(FLOAT32, INT8, UINT8).map(type -> new Case(line, type)))
                .filter(one -> one.exists(version));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void broken_oneOperator_isWhatTheDelegateSays(Case one) throws Exception {
        Path file = one.write(folder.resolve("m.tflite"));
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), "m");
        List<Set<Integer>> taken = FixedChoice.partitions(file, Delegates.XNNPACK);
        String version = EngineLibrary.loaded().version();
        XnnpackRules rules = new XnnpackRules(graph, version);
        String reason = one.reason(version);
        if (reason.isEmpty()) {
            assertEquals(List.of(Set.of(0)), taken, rules.refusal(0));
            assertEquals(Optional.empty(), rules.broken(0));
        } else {
            assertEquals(List.of(), taken);
            assertTrue(rules.refusal(0).contains(reason), rules.refusal(0));
        }
    }
}
