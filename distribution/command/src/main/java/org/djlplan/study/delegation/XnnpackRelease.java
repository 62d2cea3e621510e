package org.djlplan.study.delegation;

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
            new XnnpackRelease(
                    "2.6",
                    ImmutableMap.<String, Rule>builder()
                            .put("ABS", ANY)
                            .put("ADD", Rule.of(ACTIVATION))
                            .put("AVERAGE_POOL_2D", POOL)
                            .put("CEIL", ANY)
                            .put("CONV_2D", WEIGHTS)
                            .put("DEPTHWISE_CONV_2D", WEIGHTS)
                            .put(
                                    "DEPTH_TO_SPACE",
                                    Rule.of("blocks must be larger than one element"))
                            .put("DIV", Rule.of(ACTIVATION))
                            .put("ELU", ANY)
                            .put("FLOOR", ANY)
                            .put(
                                    "FULLY_CONNECTED",
                                    Rule.weighted(
                                            "weights must be in the default format; " + ACTIVATION))
                            .put("HARD_SWISH", ANY)
                            .put("LEAKY_RELU", ANY)
                            .put("LOGISTIC", ANY)
                            .put("MAXIMUM", ANY)
                            .put("MAX_POOL_2D", POOL)
                            .put(
                                    "MEAN",
                                    new Rule(
                                            FLOATS,
                                            ImmutableSet.of(1),
                                            ImmutableSet.of(1),
                                            4,
                                            "only a mean over height and width (axes 1 and 2)"))
                            .put("MINIMUM", ANY)
                            .put("MUL", Rule.of(ACTIVATION))
                            .put("NEG", ANY)
                            .put("PAD", Rule.with(1).hinting("no negative padding"))
                            .put(
                                    "PRELU",
                                    new Rule(
                                            FLOATS,
                                            ImmutableSet.of(1),
                                            Set.of(),
                                            0,
                                            "one slope per channel"))
                            .put("RELU", ANY)
                            .put("RELU6", ANY)
                            .put("RELU_N1_TO_1", ANY)
                            .put("RESHAPE", Rule.with(1))
                            .put("RESIZE_BILINEAR", Rule.with(1))
                            .put("ROUND", ANY)
                            .put("SOFTMAX", Rule.of("beta must be 1"))
                            .put("SQRT", ANY)
                            .put("SQUARE", ANY)
                            .put("SQUARED_DIFFERENCE", ANY)
                            .put("SUB", Rule.of(ACTIVATION))
                            .put("CUSTOM:Convolution2DTransposeBias", ANY)
                            .put("CUSTOM:MaxPoolingWithArgmax2D", ANY)
                            .put("CUSTOM:MaxUnpooling2D", ANY)
                            .buildOrThrow());

    private static final XnnpackRelease V2_20 =
            V2_6.with(
                            ImmutableMap.<String, Rule>builder()
                                    .put("BATCH_MATMUL", ANY)
                                    .put("CONCATENATION", ANY)
                                    .put("COS", ANY)
                                    .put("DEQUANTIZE", ANY)
                                    .put("EXP", ANY)
                                    .put("GELU", ANY)
                                    .put("MEAN", Rule.with(1))
                                    .put("QUANTIZE", ANY.or(ImmutableSet.of(ElementType.INT8)))
                                    .put("REDUCE_MAX", Rule.with(1))
                                    .put("REDUCE_MIN", Rule.with(1))
                                    .put("RSQRT", ANY)
                                    .put("SIN", ANY)
                                    .put("SLICE", Rule.with(1, 2))
                                    .put("SPACE_TO_DEPTH", ANY)
                                    .put("STRIDED_SLICE", Rule.with(1, 2, 3))
                                    .put("SUM", Rule.with(1))
                                    .put("TANH", ANY)
                                    .put("TRANSPOSE", Rule.with(1))
                                    .buildOrThrow())
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

    private XnnpackRelease named(String other) {
        return new XnnpackRelease(other, rules);
    }

    /** Returns this release with other rules for some operators. */
    private XnnpackRelease with(Map<String, Rule> more) {
        return new XnnpackRelease(
                name,
                ImmutableMap.<String, Rule>builder().putAll(rules).putAll(more).buildKeepingLast());
    }

    /** Returns this release with more supported types for some operators. */
    private XnnpackRelease with(Set<String> operators, Set<ElementType> types) {
        ImmutableMap.Builder<String, Rule> more = ImmutableMap.builder();
        operators.forEach(operator -> more.put(operator, rules.get(operator).or(types)));
        return with(more.buildOrThrow());
    }

    /** Returns the release of a version; empty if its rules are unknown. */
    static Optional<XnnpackRelease> of(String version) {
        return Stream.of(V2_6, V2_20, V2_21)
                .filter(release -> version.startsWith(release.name() + "."))
                .findFirst();
    }
}
