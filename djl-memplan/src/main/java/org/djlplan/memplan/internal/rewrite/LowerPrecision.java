package org.djlplan.memplan.internal.rewrite;

import java.util.Locale;
import org.djlplan.memplan.internal.machine.CpuFeatures;
import org.djlplan.memplan.internal.rewrite.Recipe.Replacement;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Replacements of linear layers and embeddings by ones with fewer bits per weight. The new weights
 * are computed once, when the graph's constants are. Inputs and outputs of the layers stay floats.
 */
final class LowerPrecision {

    /** The rows of an embedding, for example of tokens. */
    private static final String EMBEDDING =
            """
            graph(%w, %indices, %padding, %scaled, %sparse):
              %r = aten::embedding(%w, %indices, %padding, %scaled, %sparse)
              return (%r)
            """;

    private static final String FLOAT16_LINEAR =
            linear(
                    """
                    %packed : __torch__.torch.classes.quantized.LinearPackedParamsBase = quantized::linear_prepack_fp16(%w, %b)
                    %results : Tensor = quantized::linear_dynamic_fp16(%rows, %packed)
                    """);

    /** The largest number of a row becomes 1, so that none is too large for 16 bits. */
    private static final String FLOAT16_EMBEDDING = embedding("1.", "", "%quotients", 5);

    private static final String BFLOAT16_LINEAR =
            """
            graph(%x, %w, %b):
              %bfloat16 : int = prim::Constant[value=15]()
              %float32 : int = prim::Constant[value=6]()
              %no : bool = prim::Constant[value=0]()
              %none : NoneType = prim::Constant()
              %weight : Tensor = aten::to(%w, %bfloat16, %no, %no, %none)
              %biased : bool = aten::__isnot__(%b, %none)
              %bias : Tensor? = prim::If(%biased)
                block0():
                  %given : Tensor = prim::unchecked_cast(%b)
                  %converted : Tensor = aten::to(%given, %bfloat16, %no, %no, %none)
                  -> (%converted)
                block1():
                  -> (%none)
              %input : Tensor = aten::to(%x, %bfloat16, %no, %no, %none)
              %result : Tensor = aten::linear(%input, %weight, %bias)
              %r : Tensor = aten::to(%result, %float32, %no, %no, %none)
              return (%r)
            """;

    private static final String BFLOAT16_EMBEDDING =
            """
            graph(%w, %indices, %padding, %scaled, %sparse):
              %bfloat16 : int = prim::Constant[value=15]()
              %float32 : int = prim::Constant[value=6]()
              %no : bool = prim::Constant[value=0]()
              %none : NoneType = prim::Constant()
              %rows : Tensor = aten::to(%w, %bfloat16, %no, %no, %none)
              %row : Tensor = aten::embedding(%rows, %indices, %padding, %scaled, %sparse)
              %r : Tensor = aten::to(%row, %float32, %no, %no, %none)
              return (%r)
            """;

    /**
     * Each output channel has its own scale, because channels differ. Inputs are quantized at run
     * time, to seven bits if the sums of products of two bytes would overflow.
     */
    private static final String INT8_LINEAR =
            linear(
                    """
                    %one : int = prim::Constant[value=1]()
                    %columns : int[] = prim::ListConstruct(%one)
                    %none : NoneType = prim::Constant()
                    %no : bool = prim::Constant[value=0]()
                    %magnitudes : Tensor = aten::abs(%w)
                    %largest : Tensor = aten::amax(%magnitudes, %columns, %no)
                    %steps : float = prim::Constant[value=127.]()
                    %quotients : Tensor = aten::div(%largest, %steps)
                    %least : float = prim::Constant[value=1e-30]()
                    %scales : Tensor = aten::clamp_min(%quotients, %least)
                    %int64 : int = prim::Constant[value=4]()
                    %zeros : Tensor = aten::zeros_like(%scales, %int64, %none, %none, %none, %none)
                    %qint8 : int = prim::Constant[value=12]()
                    %weight : Tensor = aten::quantize_per_channel(%w, %scales, %zeros, %first, %qint8)
                    %packed : __torch__.torch.classes.quantized.LinearPackedParamsBase = quantized::linear_prepack(%weight, %b)
                    %reduced : bool = prim::Constant[value=REDUCED]()
                    %results : Tensor = quantized::linear_dynamic(%rows, %packed, %reduced)
                    """
                            .replace("REDUCED", hasWideSums() ? "0" : "1"));

    private static final String INT8_EMBEDDING =
            embedding("127.", "%rounded : Tensor = aten::round(%quotients)", "%rounded", 1);

    static final ImmutableList<Replacement> FLOAT16 =
            ImmutableList.of(
                    new Replacement(Recipe.LINEAR, FLOAT16_LINEAR),
                    new Replacement(EMBEDDING, FLOAT16_EMBEDDING));

    static final ImmutableList<Replacement> BFLOAT16 =
            ImmutableList.of(
                    new Replacement(Recipe.LINEAR, BFLOAT16_LINEAR),
                    new Replacement(EMBEDDING, BFLOAT16_EMBEDDING));

    static final ImmutableList<Replacement> INT8 =
            ImmutableList.of(
                    new Replacement(Recipe.LINEAR, INT8_LINEAR),
                    new Replacement(EMBEDDING, INT8_EMBEDDING));

    private LowerPrecision() {}

    /**
     * Returns whether the library of kernels adds products of two bytes in 32 bits. Its own
     * environment variable can restrict it to older instructions, which add them in 16 bits.
     */
    private static boolean hasWideSums() {
        String restricted = System.getenv("FBGEMM_ENABLE_INSTRUCTIONS");
        return CpuFeatures.has("avx512_vnni")
                && (restricted == null
                        || restricted.toUpperCase(Locale.ROOT).startsWith("AVX512_E1"));
    }

    /**
     * Returns a linear layer whose kernel takes any number of dimensions but one.
     *
     * @param kernel computes {@code %results} from {@code %rows}
     */
    private static String linear(String kernel) {
        return """
                graph(%x, %w, %b):
                  %first : int = prim::Constant[value=0]()
                  %rows : Tensor = aten::unsqueeze(%x, %first)
                  KERNEL
                  %r : Tensor = aten::squeeze(%results, %first)
                  return (%r)
                """
                .replace("KERNEL", kernel.strip().indent(2).strip());
    }

    /**
     * Returns an embedding whose rows are stored in fewer bits, each with its own scale.
     *
     * @param most the number that stands for the largest number of a row
     * @param rounding computes further numbers from the quotients; or nothing
     * @param numbers to convert
     * @param type libtorch's number of the type
     */
    private static String embedding(String most, String rounding, String numbers, int type) {
        return """
                graph(%w, %indices, %padding, %scaled, %sparse):
                  %one : int = prim::Constant[value=1]()
                  %columns : int[] = prim::ListConstruct(%one)
                  %yes : bool = prim::Constant[value=1]()
                  %no : bool = prim::Constant[value=0]()
                  %none : NoneType = prim::Constant()
                  %magnitudes : Tensor = aten::abs(%w)
                  %largest : Tensor = aten::amax(%magnitudes, %columns, %yes)
                  %most : float = prim::Constant[value=MOST]()
                  %steps : Tensor = aten::div(%largest, %most)
                  %least : float = prim::Constant[value=1e-30]()
                  %scales : Tensor = aten::clamp_min(%steps, %least)
                  %quotients : Tensor = aten::div(%w, %scales)
                  ROUNDING
                  %type : int = prim::Constant[value=TYPE]()
                  %rows : Tensor = aten::to(NUMBERS, %type, %no, %no, %none)
                  %row : Tensor = aten::embedding(%rows, %indices, %padding, %scaled, %sparse)
                  %scale : Tensor = aten::embedding(%scales, %indices, %padding, %scaled, %sparse)
                  %r : Tensor = aten::mul(%row, %scale)
                  return (%r)
                """
                .replace("MOST", most)
                .replace("ROUNDING", rounding)
                .replace("NUMBERS", numbers)
                .replace("TYPE", Integer.toString(type));
    }
}
