package org.djlplan.study.delegation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * The operators that XNNPACK supports by default in a release of TensorFlow Lite: a table with the
 * conditions that can be checked on a graph.
 *
 * <p>Source: {@code tensorflow/lite/delegates/xnnpack/README.md} and {@code xnnpack_delegate.cc} of
 * the release (the checks at the beginning of each {@code Visit…Node}); for 2.20 and later, in
 * addition, the delegate's answers for models of one operator.
 *
 * @param name of the release
 * @param rules by type of operator; types without a rule are not supported
 */
record XnnpackRelease(String name, Map<String, Rule> rules) {

    private static final int BIAS = 2;

    private static final String ACTIVATION =
            "a fused activation must be RELU, RELU6 or RELU_N1_TO_1";

    private static final ImmutableSet<ElementType> FLOATS = ImmutableSet.of(ElementType.FLOAT32);

    private static final ImmutableSet<ElementType> EIGHT_BITS =
            ImmutableSet.of(ElementType.INT8, ElementType.UINT8);

    /**
     * The conditions under which operators of a type are supported.
     *
     * @param types of inputs and outputs
     * @param constants indices of operands that must be constants
     * @param parameters indices of operands that are parameters, not data: they may have any type
     * @param dimensions of the first input, 0 for any number
     * @param hint another possible cause, empty if none is known
     */
    record Rule(
            Set<ElementType> types,
            Set<Integer> constants,
            Set<Integer> parameters,
            int dimensions,
            String hint) {

        private static Rule of(String hint) {
            return new Rule(FLOATS, Set.of(), Set.of(), 0, hint);
        }

        /**
         * Returns the same rule for an operator whose operands at these indices are constant
         * parameters, not data.
         */
        private static Rule with(Integer... parameters) {
            Set<Integer> places = ImmutableSet.copyOf(parameters);
            return new Rule(FLOATS, places, places, 0, "");
        }

        private Rule or(Set<ElementType> more) {
            return new Rule(
                    ImmutableSet.<ElementType>builder().addAll(types).addAll(more).build(),
                    constants,
                    parameters,
                    dimensions,
                    hint);
        }

        private Rule hinting(String other) {
            return new Rule(types, constants, parameters, dimensions, other);
        }

        private static Rule weighted(String hint) {
            return new Rule(FLOATS, ImmutableSet.of(1, BIAS), Set.of(), 0, hint);
        }
    }

    private static final Rule ANY = Rule.of("");

    private static final Rule WEIGHTS =
            Rule.weighted("strides and dilations must be positive; " + ACTIVATION);

    private static final Rule POOL =
            Rule.of("a window of one element must have no stride; " + ACTIVATION);

    private static final XnnpackRelease V2_6 =
            new XnnpackRelease("2.6", Map.of())
                    .with(
                            ANY,
                            "ABS",
                            "CEIL",
                            "ELU",
                            "FLOOR",
                            "HARD_SWISH",
                            "LEAKY_RELU",
                            "LOGISTIC",
                            "MAXIMUM",
                            "MINIMUM",
                            "NEG",
                            "RELU",
                            "RELU6",
                            "RELU_N1_TO_1",
                            "ROUND",
                            "SQRT",
                            "SQUARE",
                            "SQUARED_DIFFERENCE",
                            "CUSTOM:Convolution2DTransposeBias",
                            "CUSTOM:MaxPoolingWithArgmax2D",
                            "CUSTOM:MaxUnpooling2D")
                    .with(Rule.of(ACTIVATION), "ADD", "DIV", "MUL", "SUB")
                    .with(POOL, "AVERAGE_POOL_2D", "MAX_POOL_2D")
                    .with(WEIGHTS, "CONV_2D", "DEPTHWISE_CONV_2D")
                    .with(Rule.of("blocks must be larger than one element"), "DEPTH_TO_SPACE")
                    .with(
                            Rule.weighted("weights must be in the default format; " + ACTIVATION),
                            "FULLY_CONNECTED")
                    .with(
                            new Rule(
                                    FLOATS,
                                    ImmutableSet.of(1),
                                    ImmutableSet.of(1),
                                    4,
                                    "only a mean over height and width (axes 1 and 2)"),
                            "MEAN")
                    .with(Rule.with(1).hinting("no negative padding"), "PAD")
                    .with(
                            new Rule(
                                    FLOATS,
                                    ImmutableSet.of(1),
                                    Set.of(),
                                    0,
                                    "one slope per channel"),
                            "PRELU")
                    .with(Rule.with(1), "RESHAPE", "RESIZE_BILINEAR")
                    .with(Rule.of("beta must be 1"), "SOFTMAX");

    private static final XnnpackRelease V2_20 =
            V2_6.with(
                            ANY,
                            "BATCH_MATMUL",
                            "CONCATENATION",
                            "COS",
                            "DEQUANTIZE",
                            "EXP",
                            "GELU",
                            "RSQRT",
                            "SIN",
                            "SPACE_TO_DEPTH",
                            "TANH")
                    .with(Rule.with(1), "MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM", "TRANSPOSE")
                    .with(ANY.or(ImmutableSet.of(ElementType.INT8)), "QUANTIZE")
                    .with(Rule.with(1, 2), "SLICE")
                    .with(Rule.with(1, 2, 3), "STRIDED_SLICE")
                    .with(ImmutableSet.of("ELU"), ImmutableSet.of(ElementType.INT8))
                    .with(
                            ImmutableSet.of(
                                    "ADD",
                                    "CONCATENATION",
                                    "CONV_2D",
                                    "DEPTHWISE_CONV_2D",
                                    "DEPTH_TO_SPACE",
                                    "DEQUANTIZE",
                                    "FULLY_CONNECTED",
                                    "LEAKY_RELU",
                                    "LOGISTIC",
                                    "MAX_POOL_2D",
                                    "MEAN",
                                    "MUL",
                                    "PAD",
                                    "REDUCE_MAX",
                                    "REDUCE_MIN",
                                    "RESHAPE",
                                    "RESIZE_BILINEAR",
                                    "SLICE",
                                    "SPACE_TO_DEPTH",
                                    "STRIDED_SLICE",
                                    "SUB",
                                    "SUM",
                                    "TANH",
                                    "TRANSPOSE"),
                            EIGHT_BITS)
                    .named("2.20");

    private static final XnnpackRelease V2_21 =
            V2_20.with(ImmutableSet.of("BATCH_MATMUL"), EIGHT_BITS).named("2.21");

    XnnpackRelease {
        rules = ImmutableMap.copyOf(rules);
    }

    private XnnpackRelease named(String other) {
        return new XnnpackRelease(other, rules);
    }

    /** Returns this release with another rule for some operators. */
    private XnnpackRelease with(Rule rule, String... operators) {
        Map<String, Rule> more = new LinkedHashMap<>(rules);
        for (String operator : operators) {
            more.put(operator, rule);
        }
        return new XnnpackRelease(name, more);
    }

    /** Returns this release with more supported types for some operators. */
    private XnnpackRelease with(Set<String> operators, Set<ElementType> types) {
        Map<String, Rule> more = new LinkedHashMap<>(rules);
        operators.forEach(
                operator -> more.computeIfPresent(operator, (type, rule) -> rule.or(types)));
        return new XnnpackRelease(name, more);
    }

    /** Returns the release of a version; empty if its rules are unknown. */
    static Optional<XnnpackRelease> of(String version) {
        return Stream.of(V2_6, V2_20, V2_21)
                .filter(release -> version.startsWith(release.name() + "."))
                .findFirst();
    }
}
