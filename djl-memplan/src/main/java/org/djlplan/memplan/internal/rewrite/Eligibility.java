package org.djlplan.memplan.internal.rewrite;

import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter.RefusedException;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Decides whether a TorchScript module may be rewritten. A rewritten module computes with constants
 * in place of attributes, and has only the method {@code forward}. So modules that change
 * themselves or have other methods are not rewritten, and neither are those whose outputs cannot be
 * compared, because they are random, or those in a precision for which the recipes were not made.
 */
public final class Eligibility {

    private static final Pattern RANDOM =
            Pattern.compile(
                    "aten::((rand|randn|randint|randperm|normal|bernoulli)(_like)?_?"
                            + "|uniform_?|random_?|multinomial|poisson|exponential_?|geometric_?"
                            + "|cauchy_?|log_normal_?|rrelu_?|seed|_standard_gamma|binomial)\\(");

    private static final Pattern ATTRIBUTE = Pattern.compile("prim::[SG]etAttr\\[name=\"([^\"]*)");

    private static final Pattern QUANTIZED =
            Pattern.compile("\\b(quantized::|aten::(de)?quantize|aten::_empty_affine_quantized)");

    private static final Pattern HALF = Pattern.compile("\\b(Half|BFloat16)\\(");

    /** Libtorch's numbers of the 16-bit types. */
    private static final Pattern HALF_NUMBER =
            Pattern.compile("(%[^ ]+) : int = prim::Constant\\[value=(5|15)]");

    private static final Pattern CONVERSION = Pattern.compile("aten::to\\(([^)]*)\\)");

    private static final Pattern FLAG =
            Pattern.compile("(%[^ ]+) : bool = prim::Constant\\[value=([01])]");

    private static final Splitter ARGUMENTS = Splitter.on(',').trimResults();

    /** Operators that behave differently in training, and the position of the flag for that. */
    private static final ImmutableMap<Pattern, Integer> TRAINABLE =
            ImmutableMap.of(
                    call("(feature_|alpha_|feature_alpha_)?dropout_?"), 2,
                    call("(_?native_|_|cudnn_|miopen_)?batch_norm"), 5);

    private Eligibility() {}

    private static Pattern call(String operators) {
        return Pattern.compile("aten::" + operators + "\\(([^)]*)\\)");
    }

    /**
     * Returns why a model may not be rewritten; empty if it may.
     *
     * @param block its block
     */
    public static Optional<String> problem(ModuleRewriter rewriter, TorchScriptBlock block)
            throws ReflectiveOperationException {
        try {
            List<String> others =
                    rewriter.methods(block.module()).stream()
                            .filter(name -> !name.equals("forward") && !name.startsWith("_"))
                            .toList();
            if (!others.isEmpty()) {
                return Optional.of("it has other methods than forward: " + others);
            }
            if (isHalf(block.block())) {
                return Optional.of("its weights are 16-bit floats");
            }
            try (TorchScriptBlock frozen = block.rewritten(rewriter, Recipe.all().get(0))) {
                return problem(rewriter.graph(frozen.module()));
            }
        } catch (RefusedException e) {
            return Optional.of("libtorch does not freeze it: " + e.getMessage());
        }
    }

    private static boolean isHalf(Block block) {
        return block.getParameters().values().stream()
                .filter(Parameter::isInitialized)
                .map(parameter -> parameter.getArray().getDataType())
                .anyMatch(type -> type.name().endsWith("FLOAT16"));
    }

    /**
     * Returns why a frozen module may not serve; empty if it may.
     *
     * @param graph the text of its graph
     */
    static Optional<String> problem(String graph) {
        Matcher random = RANDOM.matcher(graph);
        if (random.find()) {
            return Optional.of("it draws random numbers (" + random.group(1) + ")");
        }
        Matcher attribute = ATTRIBUTE.matcher(graph);
        if (attribute.find()) {
            return Optional.of("it changes its attribute " + attribute.group(1));
        }
        if (QUANTIZED.matcher(graph).find()) {
            return Optional.of("it is quantized");
        }
        if (HALF.matcher(graph).find() || convertsToHalf(graph)) {
            return Optional.of("it computes in 16-bit floats");
        }
        return trains(graph) ? Optional.of("it is in training mode") : Optional.empty();
    }

    private static boolean convertsToHalf(String graph) {
        Set<String> numbers =
                HALF_NUMBER
                        .matcher(graph)
                        .results()
                        .map(found -> found.group(1))
                        .collect(ImmutableSet.toImmutableSet());
        return CONVERSION
                .matcher(graph)
                .results()
                .flatMap(found -> ARGUMENTS.splitToStream(found.group(1)))
                .anyMatch(numbers::contains);
    }

    /** Returns whether an operator that behaves differently in training may be in that mode. */
    private static boolean trains(String graph) {
        Map<String, Boolean> flags =
                FLAG.matcher(graph)
                        .results()
                        .collect(
                                ImmutableMap.toImmutableMap(
                                        found -> found.group(1),
                                        found -> found.group(2).equals("1"),
                                        (first, second) -> first || second));
        return TRAINABLE.entrySet().stream()
                .anyMatch(
                        each ->
                                each.getKey()
                                        .matcher(graph)
                                        .results()
                                        .anyMatch(call -> trains(call, each.getValue(), flags)));
    }

    private static boolean trains(MatchResult call, int position, Map<String, Boolean> flags) {
        List<String> arguments = ARGUMENTS.splitToList(call.group(call.groupCount()));
        return position >= arguments.size() || flags.getOrDefault(arguments.get(position), true);
    }
}
