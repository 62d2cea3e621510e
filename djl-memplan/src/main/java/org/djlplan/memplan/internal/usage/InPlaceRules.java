package org.djlplan.memplan.internal.usage;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Operator.InPlace;
import org.djlplan.thirdparty.guava.collect.ImmutableCollection;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * The operators whose output may take the place of an input, by element type, because each type has
 * its own kernel. An operator is listed only if its kernel (TensorFlow Lite's own CPU kernels,
 * including vectorized and broadcasting paths) reads element i of the operand before it writes
 * element i of the result, and never reads an element below i of that operand afterwards. In
 * addition, with operand and result at one place, the engine must compute the same bits as with
 * separate places, for NaNs of several kinds, infinities, subnormal numbers and odd lengths. The
 * integration tests run every entry and fail for an entry without a model.
 *
 * <p>The order of reads and writes alone is not sufficient: a compiler turns one loop into two, one
 * for arrays that overlap and one for others, and their results may differ. In release 2.6.2 for
 * x86-64, {@code ADD} and {@code MUL} of floats return the other of two NaNs, and {@code
 * RELU_N1_TO_1} of floats flushes subnormal numbers to zero, when they overwrite an operand. These
 * operators are not listed.
 *
 * <p>A view is a {@code memcpy} onto itself, which is undefined in the C standard (C11 7.24.2.1:
 * overlapping objects). Only the integration tests prove that it leaves the bytes unchanged on the
 * supported platforms, for the element types that they run.
 *
 * <p>Broadcasting: the overwritten operand has the result's shape, so {@code
 * BinaryBroadcastFiveFold} and the {@code …Slow} loops use the same index for both; the repeated
 * operand is smaller and never overwritten.
 */
public final class InPlaceRules {

    /** The ways in which an output can share an input's place. */
    public enum Kind {
        /**
         * The output is a copy of the first input with another shape; at a shared place, it is
         * copied onto itself.
         */
        VIEW,
        /** The first input may be overwritten. */
        OVERWRITES_FIRST,
        /** One of the two inputs may be overwritten. */
        OVERWRITES_EITHER
    }

    /**
     * One allowed operator.
     *
     * @param operator the engine's name for it
     * @param type element type of the shared input and of the output
     * @param kind how they share
     * @param kernel the function whose loop makes sharing safe
     */
    public record Rule(String operator, ElementType type, Kind kind, String kernel) {

        /** Returns this kind in the form in which an engine reports it. */
        InPlace inPlace() {
            return new InPlace(
                    kind == Kind.OVERWRITES_EITHER ? Set.of(0, 1) : Set.of(0), kind == Kind.VIEW);
        }
    }

    private static final Kind FIRST = Kind.OVERWRITES_FIRST;
    private static final Kind EITHER = Kind.OVERWRITES_EITHER;
    private static final ElementType F32 = ElementType.FLOAT32;
    private static final ElementType I8 = ElementType.INT8;
    private static final ElementType U8 = ElementType.UINT8;

    /** All element types of whole bytes that the engine has; 2.6.2 has no UINT16. */
    private static final ElementType[] COPIED = {
        F32,
        I8,
        U8,
        ElementType.FLOAT16,
        ElementType.FLOAT64,
        ElementType.INT16,
        ElementType.INT32,
        ElementType.INT64,
        ElementType.UINT32,
        ElementType.UINT64,
        ElementType.BOOL,
        ElementType.COMPLEX64,
        ElementType.COMPLEX128
    };

    /** By operator and type. */
    private static final ImmutableMap<Map.Entry<String, ElementType>, Rule> RULES = rules();

    private InPlaceRules() {}

    /** Returns all rules, at most one per operator and type. */
    public static ImmutableCollection<Rule> allowed() {
        return RULES.values();
    }

    /** Returns the rule of an operator whose output has elements of {@code type}. */
    static Optional<Rule> find(String operator, ElementType type) {
        return Optional.ofNullable(RULES.get(Map.entry(operator, type)));
    }

    private static ImmutableMap<Map.Entry<String, ElementType>, Rule> rules() {
        ImmutableMap.Builder<Map.Entry<String, ElementType>, Rule> rules = ImmutableMap.builder();
        add(rules, Kind.VIEW, "RESHAPE", "reshape::Eval, memcpy", COPIED);
        add(rules, Kind.VIEW, "SQUEEZE", "squeeze::Eval, memcpy", COPIED);
        add(rules, Kind.VIEW, "EXPAND_DIMS", "expand_dims::Eval, memcpy", COPIED);
        add(rules, EITHER, "ADD", "AddElementwise, AddScalarBroadcast", I8, U8);
        add(rules, EITHER, "MUL", "MulElementwise, MulSimpleBroadcast", I8, U8);
        add(rules, EITHER, "SUB", "SubWithActivation, BroadcastSub…", F32);
        add(rules, EITHER, "DIV", "Div, BroadcastDivSlow", F32);
        add(rules, EITHER, "MAXIMUM", "MaximumMinimumBroadcastSlow", F32);
        add(rules, EITHER, "MINIMUM", "MaximumMinimumBroadcastSlow", F32);
        // 8-bit activations: ReluX clamps element by element, the others use a lookup table per
        // element.
        add(rules, FIRST, "RELU", "Relu (Eigen cwiseMax), ReluX", F32, I8, U8);
        add(rules, FIRST, "RELU6", "Relu6Eval, ReluX", F32, I8, U8);
        add(rules, FIRST, "RELU_N1_TO_1", "ReluX", I8, U8);
        add(rules, FIRST, "LOGISTIC", "Logistic (Eigen), EvalUsingLookupTable", F32, I8, U8);
        add(rules, FIRST, "TANH", "Tanh (Eigen), EvalUsingLookupTable", F32, I8, U8);
        add(rules, FIRST, "HARD_SWISH", "HardSwish", F32);
        add(rules, FIRST, "LEAKY_RELU", "LeakyRelu", F32);
        add(rules, FIRST, "ELU", "Elu", F32);
        add(rules, FIRST, "PRELU", "PReluElementWise, BroadcastBinaryFunction4DSlow", F32);
        add(rules, FIRST, "NEG", "Negate", F32);
        add(rules, FIRST, "EXP", "Exp", F32);
        add(rules, FIRST, "FLOOR", "Floor (Eigen)", F32);
        add(rules, FIRST, "CEIL", "Ceil (Eigen)", F32);
        add(rules, FIRST, "ROUND", "Round", F32);
        for (String each : List.of("ABS", "SQRT", "RSQRT", "SQUARE", "SIN", "COS", "LOG")) {
            add(rules, FIRST, each, "elementwise::EvalImpl", F32);
        }
        return rules.buildOrThrow();
    }

    private static void add(
            ImmutableMap.Builder<Map.Entry<String, ElementType>, Rule> rules,
            Kind kind,
            String operator,
            String kernel,
            ElementType... types) {
        for (ElementType type : types) {
            rules.put(Map.entry(operator, type), new Rule(operator, type, kind, kernel));
        }
    }
}
