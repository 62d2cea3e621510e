package org.djlplan.memplan.internal.rewrite;

import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter.RefusedException;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A way to rewrite a loaded TorchScript module, so that it computes the same in less time. Which
 * one is the fastest depends on the model and the processor; some make a model slower. A recipe of
 * a {@linkplain #lower lower precision} computes nearly the same.
 *
 * @param name for reports and stored results
 * @param base makes a frozen copy of the module
 * @param replacements patterns to replace in the copy
 */
public record Recipe(String name, Base base, ImmutableList<Replacement> replacements) {

    /** A linear layer, with or without a bias. */
    static final String LINEAR =
            """
            graph(%x, %w, %b):
              %r = aten::linear(%x, %w, %b)
              return (%r)
            """;

    /**
     * A linear layer as oneDNN's convolution of one pixel, whose weights are packed once. The rows
     * of the input are the pixels of an image with one line; 64 is the expected number of them, and
     * other numbers work as well.
     */
    private static final String PACKED_LINEAR =
            """
            graph(%x, %w, %b):
              %zero : int = prim::Constant[value=0]()
              %one : int = prim::Constant[value=1]()
              %two : int = prim::Constant[value=2]()
              %three : int = prim::Constant[value=3]()
              %last : int = prim::Constant[value=-1]()
              %rows : int = prim::Constant[value=64]()
              %none : NoneType = prim::Constant()
              %activation : str = prim::Constant[value="none"]()
              %outputs : int = aten::size(%w, %zero)
              %inputs : int = aten::size(%w, %one)
              %weight_shape : int[] = prim::ListConstruct(%outputs, %inputs, %one, %one)
              %weight : Tensor = aten::reshape(%w, %weight_shape)
              %ones : int[] = prim::ListConstruct(%one, %one)
              %zeros : int[] = prim::ListConstruct(%zero, %zero)
              %usual : int[] = prim::ListConstruct(%one, %inputs, %rows, %one)
              %packed : __torch__.torch.classes.mkldnn.ConvOpContext = mkldnn_prepacked::conv2d_prepack(%weight, %b, %ones, %zeros, %ones, %one, %usual, %activation)
              %pixels_shape : int[] = prim::ListConstruct(%one, %last, %one, %inputs)
              %pixels : Tensor = aten::reshape(%x, %pixels_shape)
              %channels_second : int[] = prim::ListConstruct(%zero, %three, %one, %two)
              %image : Tensor = aten::permute(%pixels, %channels_second)
              %filtered : Tensor = mkldnn_prepacked::conv2d_run(%image, %packed)
              %channels_last : int[] = prim::ListConstruct(%zero, %two, %three, %one)
              %results : Tensor = aten::permute(%filtered, %channels_last)
              %shape : int[] = aten::size(%x)
              %head : int[] = aten::slice(%shape, %none, %last, %one)
              %tail : int[] = prim::ListConstruct(%outputs)
              %result_shape : int[] = aten::add(%head, %tail)
              %r : Tensor = aten::reshape(%results, %result_shape)
              return (%r)
            """;

    /** The simplest one first. */
    private static final ImmutableList<Recipe> ALL =
            ImmutableList.of(
                    new Recipe("frozen", ModuleRewriter::freeze, ImmutableList.of()),
                    new Recipe(
                            "optimize_for_inference", ModuleRewriter::optimize, ImmutableList.of()),
                    new Recipe(
                            "packed-linear",
                            ModuleRewriter::freeze,
                            ImmutableList.of(new Replacement(LINEAR, PACKED_LINEAR))),
                    new Recipe("channels-last", ModuleRewriter::freeze, ChannelsLast.ALL));

    /** Weights of linear layers and rows of embeddings in fewer bits, the most precise first. */
    private static final ImmutableList<Recipe> LOWER =
            ImmutableList.of(
                    lower("float16", LowerPrecision.FLOAT16),
                    lower("bfloat16", LowerPrecision.BFLOAT16),
                    lower("int8", LowerPrecision.INT8));

    private static Recipe lower(String name, ImmutableList<Replacement> replacements) {
        return new Recipe(name, ModuleRewriter::freeze, replacements);
    }

    /** Makes a frozen copy of a module, which stays usable. */
    @FunctionalInterface
    public interface Base {
        long apply(ModuleRewriter rewriter, long module) throws RefusedException;
    }

    /** A pattern and its replacement, in libtorch's text of graphs. */
    public record Replacement(String pattern, String replacement) {}

    /** Returns all recipes at the model's precision. */
    public static ImmutableList<Recipe> all() {
        return ALL;
    }

    /** Returns the recipes of lower precisions, by whose names users permit them. */
    public static ImmutableList<Recipe> lower() {
        return LOWER;
    }

    /** Returns the recipe of a name. */
    public static Optional<Recipe> named(String name) {
        return Stream.concat(ALL.stream(), LOWER.stream())
                .filter(recipe -> recipe.name.equals(name))
                .findFirst();
    }

    @Override
    public String toString() {
        return name;
    }
}
