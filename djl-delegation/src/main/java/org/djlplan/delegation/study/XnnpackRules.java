package org.djlplan.delegation.study;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.delegation.partition.Dataflow;
import org.djlplan.delegation.study.Explanation.DelegateRules;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Tensor;

/**
 * The rules of XNNPACK as TensorFlow Lite 2.6.2 has it, by default: floats of 32 bits, with sizes
 * and weights that are known beforehand.
 *
 * <p>Source: {@code tensorflow/lite/delegates/xnnpack/README.md} and {@code xnnpack_delegate.cc} of
 * 2.6 (the checks at the beginning of each {@code Visit…Node}). A graph has no parameters of
 * operators, such as strides, so that only some of the rules can be checked; of the others is said
 * what may be broken.
 */
public final class XnnpackRules implements DelegateRules {

    private static final String RELEASE = "2.6.";

    private static final int BIAS = 2;

    private static final String ACTIVATION =
            "a fused activation must be RELU, RELU6 or RELU_N1_TO_1";

    /**
     * The conditions under which operators of a type are taken.
     *
     * @param constants places of operands that must be constants
     * @param parameters places of operands that are no floats
     * @param dimensions of the first input, 0 for any number
     * @param hint what else may be wrong, empty if nothing
     */
    private record Rule(
            Set<Integer> constants, Set<Integer> parameters, int dimensions, String hint) {

        static Rule of(String hint) {
            return new Rule(Set.of(), Set.of(), 0, hint);
        }
    }

    private static final Rule ANY = Rule.of("");

    private static final Rule WEIGHTS =
            new Rule(
                    ImmutableSet.of(1, BIAS),
                    Set.of(),
                    0,
                    "strides and dilations must be positive; " + ACTIVATION);

    private static final Rule POOL =
            new Rule(
                    Set.of(),
                    Set.of(),
                    0,
                    "a window of one element must have no stride; " + ACTIVATION);

    private static final Map<String, Rule> RULES =
            ImmutableMap.<String, Rule>builder()
                    .put("ABS", ANY)
                    .put("ADD", Rule.of(ACTIVATION))
                    .put("AVERAGE_POOL_2D", POOL)
                    .put("CEIL", ANY)
                    .put("CONV_2D", WEIGHTS)
                    .put("DEPTHWISE_CONV_2D", WEIGHTS)
                    .put("DEPTH_TO_SPACE", Rule.of("blocks must be larger than one element"))
                    .put("DIV", Rule.of(ACTIVATION))
                    .put("ELU", ANY)
                    .put("FLOOR", ANY)
                    .put(
                            "FULLY_CONNECTED",
                            new Rule(
                                    ImmutableSet.of(1, BIAS),
                                    Set.of(),
                                    0,
                                    "weights must be in the default format; " + ACTIVATION))
                    .put("HARD_SWISH", ANY)
                    .put("LEAKY_RELU", ANY)
                    .put("LOGISTIC", ANY)
                    .put("MAXIMUM", ANY)
                    .put("MAX_POOL_2D", POOL)
                    .put(
                            "MEAN",
                            new Rule(
                                    ImmutableSet.of(1),
                                    ImmutableSet.of(1),
                                    4,
                                    "only a mean over height and width (axes 1 and 2)"))
                    .put("MINIMUM", ANY)
                    .put("MUL", Rule.of(ACTIVATION))
                    .put("NEG", ANY)
                    .put(
                            "PAD",
                            new Rule(
                                    ImmutableSet.of(1),
                                    ImmutableSet.of(1),
                                    0,
                                    "no negative padding"))
                    .put(
                            "PRELU",
                            new Rule(ImmutableSet.of(1), Set.of(), 0, "one slope per channel"))
                    .put("RELU", ANY)
                    .put("RELU6", ANY)
                    .put("RELU_N1_TO_1", ANY)
                    .put("RESHAPE", new Rule(ImmutableSet.of(1), ImmutableSet.of(1), 0, ""))
                    .put("RESIZE_BILINEAR", new Rule(ImmutableSet.of(1), ImmutableSet.of(1), 0, ""))
                    .put("ROUND", ANY)
                    .put("SOFTMAX", Rule.of("beta must be 1"))
                    .put("SQRT", ANY)
                    .put("SQUARE", ANY)
                    .put("SQUARED_DIFFERENCE", ANY)
                    .put("SUB", Rule.of(ACTIVATION))
                    .put("CUSTOM:Convolution2DTransposeBias", Rule.of(""))
                    .put("CUSTOM:MaxPoolingWithArgmax2D", Rule.of(""))
                    .put("CUSTOM:MaxUnpooling2D", Rule.of(""))
                    .buildOrThrow();

    private final Graph graph;
    private final Dataflow flow;

    /**
     * @param graph of the model
     */
    public XnnpackRules(Graph graph) {
        this.graph = graph;
        this.flow = Dataflow.of(graph);
    }

    /**
     * Returns what is known of a delegate.
     *
     * @param delegate as in {@code delegation.delegate}
     * @param release of the engine's library; others than 2.6 take more, such as integers of 8 bits
     */
    public static DelegateRules of(String delegate, String release, Graph graph) {
        return delegate.equals("xnnpack") && release.startsWith(RELEASE)
                ? new XnnpackRules(graph)
                : DelegateRules.UNKNOWN;
    }

    @Override
    public String refusal(int operator) {
        Operator it = graph.operators().get(operator);
        Rule rule = RULES.get(it.type());
        if (rule == null) {
            return it.type().equals("DEQUANTIZE") || it.type().equals("DENSIFY")
                    ? "XNNPACK takes " + it.type() + " of constants only"
                    : "XNNPACK 2.6 has no " + it.type();
        }
        return broken(it, rule)
                .orElseGet(
                        () ->
                                rule.hint().isEmpty()
                                        ? UNKNOWN.refusal(operator)
                                        : UNKNOWN.refusal(operator)
                                                + " with its parameters: "
                                                + rule.hint());
    }

    /**
     * Returns the rule that an operator breaks, as far as a graph tells; empty if it tells none.
     */
    public Optional<String> broken(int operator) {
        Operator it = graph.operators().get(operator);
        Rule rule = RULES.get(it.type());
        return rule == null ? Optional.of(refusal(operator)) : broken(it, rule);
    }

    private Optional<String> broken(Operator operator, Rule rule) {
        return type(operator, rule)
                .or(() -> shape(operator, rule))
                .or(() -> bias(operator))
                .or(() -> constants(operator, rule));
    }

    private Optional<String> type(Operator operator, Rule rule) {
        List<Tensor> inputs = tensors(operator.inputs());
        for (int place = 0; place < inputs.size(); place++) {
            if (!rule.parameters().contains(place)
                    && inputs.get(place).type() != ElementType.FLOAT32) {
                return Optional.of(floatsOnly("input", inputs.get(place)));
            }
        }
        return tensors(operator.outputs()).stream()
                .filter(tensor -> tensor.type() != ElementType.FLOAT32)
                .findFirst()
                .map(tensor -> floatsOnly("output", tensor));
    }

    private static String floatsOnly(String what, Tensor tensor) {
        return "XNNPACK takes FLOAT32 only, by default; an " + what + " is " + tensor.type();
    }

    private Optional<String> shape(Operator operator, Rule rule) {
        List<Tensor> all =
                Stream.concat(
                                tensors(operator.inputs()).stream(),
                                tensors(operator.outputs()).stream())
                        .toList();
        if (all.stream().anyMatch(tensor -> tensor.shape().contains(-1))) {
            return Optional.of("a size is known only at run time");
        }
        int asked = rule.dimensions();
        return asked > 0 && !all.isEmpty() && all.get(0).shape().size() != asked
                ? Optional.of(
                        "XNNPACK takes %s of %d dimensions only".formatted(operator.type(), asked))
                : Optional.empty();
    }

    private static Optional<String> bias(Operator operator) {
        boolean convolution =
                operator.type().equals("CONV_2D") || operator.type().equals("DEPTHWISE_CONV_2D");
        return convolution && operator.inputs().size() <= BIAS
                ? Optional.of("XNNPACK takes " + operator.type() + " with a bias only")
                : Optional.empty();
    }

    private Optional<String> constants(Operator operator, Rule rule) {
        List<Integer> inputs = operator.inputs();
        for (int place = 0; place < inputs.size(); place++) {
            if (rule.constants().contains(place) && !flow.isConstantTensor(inputs.get(place))) {
                return Optional.of(
                        "XNNPACK takes %s only if its input %d is a constant"
                                .formatted(operator.type(), place));
            }
        }
        return Optional.empty();
    }

    private List<Tensor> tensors(List<Integer> ids) {
        return ids.stream().map(graph.tensors()::get).toList();
    }
}
