package org.djlplan.memplan.internal.rewrite;

import org.djlplan.memplan.internal.rewrite.Recipe.Replacement;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Replacements of convolutions of images by oneDNN's, whose weights are packed once. Their outputs
 * have the channels of a pixel side by side in memory, and other operators keep this order, so that
 * nothing is reordered between two convolutions. A ReLU after a convolution is computed by it.
 */
final class ChannelsLast {

    /** What modules from scripts call. With a named padding libtorch refuses to replace it. */
    private static final Convolution SCRIPTED =
            new Convolution(
                    "aten::conv2d",
                    "%stride, %padding, %dilation, %groups",
                    "%usual : bool = prim::Constant[value=1]()");

    /** What traced modules call, also for other dimensions and transposed convolutions. */
    private static final Convolution TRACED =
            new Convolution(
                    "aten::_convolution",
                    "%stride, %padding, %dilation, %transposed, %output_padding, %groups, %benchmark, %deterministic, %cudnn, %tf32",
                    "%usual : bool = aten::__not__(%transposed)");

    /** An array whose values are not in the order of its dimensions may have no such view. */
    private static final Replacement VIEW =
            new Replacement(
                    """
                    graph(%x, %shape):
                      %r = aten::view(%x, %shape)
                      return (%r)
                    """,
                    """
                    graph(%x, %shape):
                      %r : Tensor = aten::reshape(%x, %shape)
                      return (%r)
                    """);

    /** The longest patterns first, because a replaced convolution does not match again. */
    static final ImmutableList<Replacement> ALL =
            ImmutableList.of(
                    SCRIPTED.withRelu("aten::relu_"),
                    SCRIPTED.withRelu("aten::relu"),
                    SCRIPTED.alone(),
                    TRACED.withRelu("aten::relu_"),
                    TRACED.withRelu("aten::relu"),
                    TRACED.alone(),
                    VIEW);

    private ChannelsLast() {}

    /**
     * An operator.
     *
     * @param settings its arguments after input, weights and bias
     * @param check computes {@code %usual}, which tells whether it is one that can be packed
     */
    private record Convolution(String operator, String settings, String check) {

        Replacement alone() {
            return replacement("", "none", "%y");
        }

        Replacement withRelu(String relu) {
            return replacement("%result : Tensor = " + relu + "(%y)", "relu", "%result");
        }

        /** Height and width of an input that is packed for are 28; others work as well. */
        private Replacement replacement(String after, String activation, String result) {
            return new Replacement(
                    fill(
                            """
                            graph(%x, %w, %b, SETTINGS):
                              %y : Tensor = OPERATOR(%x, %w, %b, SETTINGS)
                              AFTER
                              return (RESULT)
                            """,
                            after, activation, result),
                    fill(
                            """
                            graph(%x, %w, %b, SETTINGS):
                              %four : int = prim::Constant[value=4]()
                              %dimensions : int = aten::dim(%w)
                              %of_images : bool = aten::eq(%dimensions, %four)
                              CHECK
                              %packable : bool = aten::__and__(%of_images, %usual)
                              %r : Tensor = prim::If(%packable)
                                block0():
                                  %one : int = prim::Constant[value=1]()
                                  %side : int = prim::Constant[value=28]()
                                  %group : int = aten::size(%w, %one)
                                  %channels : int = aten::mul(%group, %groups)
                                  %input_shape : int[] = prim::ListConstruct(%one, %channels, %side, %side)
                                  %activation : str = prim::Constant[value="ACTIVATION"]()
                                  %packed : __torch__.torch.classes.mkldnn.ConvOpContext = mkldnn_prepacked::conv2d_prepack(%w, %b, %stride, %padding, %dilation, %groups, %input_shape, %activation)
                                  %channels_last : int = prim::Constant[value=2]()
                                  %image : Tensor = aten::contiguous(%x, %channels_last)
                                  %filtered : Tensor = mkldnn_prepacked::conv2d_run(%image, %packed)
                                  -> (%filtered)
                                block1():
                                  %y : Tensor = OPERATOR(%x, %w, %b, SETTINGS)
                                  AFTER
                                  -> (RESULT)
                              return (%r)
                            """,
                            after, activation, result));
        }

        private String fill(String template, String after, String activation, String result) {
            return template.replace("OPERATOR", operator)
                    .replace("SETTINGS", settings)
                    .replace("CHECK", check)
                    .replace("AFTER", after)
                    .replace("ACTIVATION", activation)
                    .replace("RESULT", result);
        }
    }
}
