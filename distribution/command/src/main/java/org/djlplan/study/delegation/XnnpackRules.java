package org.djlplan.study.delegation;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.choice.Dataflow;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.study.delegation.Explanation.DelegateRules;
import org.djlplan.study.delegation.XnnpackRelease.Rule;

/**
 * The rules of XNNPACK in a release of TensorFlow Lite, with default settings: which data types it
 * supports, and whether sizes and weights must be known in advance.
 *
 * <p>A graph does not contain parameters of operators, such as strides, so only some rules can be
 * checked; the others are reported as possible causes.
 */
public final class XnnpackRules implements DelegateRules {

    private static final int BIAS = 2;

    private final Graph graph;
    private final Dataflow flow;
    private final XnnpackRelease release;

    /**
     * @param graph of the model
     * @param version of the engine's library
     * @throws IllegalArgumentException if the rules of that version are unknown
     */
    public XnnpackRules(Graph graph, String version) {
        this.graph = graph;
        this.flow = Dataflow.of(graph);
        release =
                XnnpackRelease.of(version)
                        .orElseThrow(() -> new IllegalArgumentException("version: " + version));
    }

    /**
     * Returns the known rules of a delegate.
     *
     * @param delegate value of {@code delegation.delegate}
     * @param version of the engine's library
     */
    public static DelegateRules of(String delegate, String version, Graph graph) {
        boolean known = XnnpackRelease.of(version).isPresent();
        return known && (delegate.equals("xnnpack") || delegate.equals("xnnpack-transient"))
                ? new XnnpackRules(graph, version)
                : DelegateRules.UNKNOWN;
    }

    @Override
    public String refusal(int operator) {
        Operator it = graph.operators().get(operator);
        Rule rule = release.rules().get(it.type());
        if (rule == null) {
            return it.type().equals("DEQUANTIZE") || it.type().equals("DENSIFY")
                    ? "XNNPACK takes " + it.type() + " of constants only"
                    : "XNNPACK " + release.name() + " has no " + it.type();
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
     * Returns the rule that an operator breaks, as far as the graph shows; empty if none is known.
     */
    public Optional<String> broken(int operator) {
        Operator it = graph.operators().get(operator);
        Rule rule = release.rules().get(it.type());
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
            ElementType type = inputs.get(place).type();
            boolean fits =
                    rule.parameters().contains(place)
                            || rule.types().contains(type)
                            || isSumOfIntegers(type, place, rule);
            if (!fits) {
                return Optional.of(otherType(operator, rule, "input", type));
            }
        }
        return tensors(operator.outputs()).stream()
                .map(Tensor::type)
                .filter(type -> !rule.types().contains(type))
                .findFirst()
                .map(type -> otherType(operator, rule, "output", type));
    }

    /** Biases of quantized operators have the scale of the operators' sums. */
    private static boolean isSumOfIntegers(ElementType type, int place, Rule rule) {
        return place == BIAS
                && type == ElementType.INT32
                && rule.constants().contains(BIAS)
                && rule.types().contains(ElementType.INT8);
    }

    private String otherType(Operator operator, Rule rule, String what, ElementType type) {
        return "XNNPACK %s takes %s of %s only, by default; an %s is %s"
                .formatted(
                        release.name(),
                        operator.type(),
                        rule.types().stream().map(Enum::name).collect(Collectors.joining(" or ")),
                        what,
                        type);
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
