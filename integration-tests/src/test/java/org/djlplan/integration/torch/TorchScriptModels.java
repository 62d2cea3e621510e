package org.djlplan.integration.torch;

import static org.djlplan.integration.torch.ModelInputs.floats;
import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.ndarray.types.DataType;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The files that {@code src/test/python/torchscript_files.py} makes; the script says what each one
 * demonstrates.
 */
public final class TorchScriptModels {

    private static final int BYTE_VALUES = 256;

    private static final ImmutableList<TorchScriptModel> ALL =
            ImmutableList.of(
                    pure("cnn", images(3, 32, 48)),
                    pure("cnn_traced", images(3, 32, 48)),
                    pure("cnn_frozen", images(3, 32, 48)),
                    pure("branch", floats(shape(1, 16)), floats(shape(8, 16))),
                    pure("loop", turns(1), turns(5)),
                    pure("growing", floats(shape(1, 2)), floats(shape(2, 500))),
                    pure("many_inputs", manyInputs(1), manyInputs(32)),
                    pure("tuple_outputs", images(3, 32, 56)),
                    pure("dict_outputs", floats(shape(1, 16)), floats(shape(64, 16))),
                    pure("list_outputs", images(4, 32, 48)),
                    pure("embedding", identifiers(1, 8), identifiers(4, 20)),
                    pure("half", floats(shape(4, 64)), floats(shape(9, 300))),
                    pure("bfloat16", floats(shape(1, 32)), floats(shape(16, 32))),
                    pure("bytes", bytes(2, 64), bytes(5, 1000)),
                    pure("view_output", images(3, 16, 24)),
                    pure("input_as_output", floats(shape(1, 24)), floats(shape(40, 24))),
                    pure("same_twice", floats(shape(1, 24)), floats(shape(40, 24))),
                    pure("in_place", images(3, 16, 24)),
                    pure("lstm", floats(shape(1, 5, 16)), floats(shape(3, 20, 16))),
                    pure("gru", floats(shape(1, 5, 16)), floats(shape(3, 20, 16))),
                    pure("attention", floats(shape(1, 16, 32)), floats(shape(2, 50, 32))),
                    pure("fork", images(3, 16, 40)),
                    new TorchScriptModel(
                            "counter",
                            List.of(floats(shape(1, 16)), floats(shape(30, 16))),
                            true,
                            false),
                    new TorchScriptModel(
                            "cache",
                            List.of(floats(shape(1, 16)), floats(shape(30, 16))),
                            true,
                            false),
                    pure("chain", floats(shape(1, 4)), floats(shape(1, 600))),
                    pure("wide", floats(shape(1, 64)), floats(shape(2, 300))),
                    new TorchScriptModel(
                            "nonzero",
                            List.of(floats(shape(4, 8)), floats(shape(30, 40))),
                            false,
                            true));

    /** Models that must not be rewritten, or are hard to rewrite. */
    private static final ImmutableList<TorchScriptModel> HOSTILE =
            ImmutableList.of(
                    new TorchScriptModel(
                            "random_noise", List.of(floats(shape(4, 16))), true, false),
                    new TorchScriptModel(
                            "always_dropout", List.of(floats(shape(4, 16))), true, false),
                    new TorchScriptModel(
                            "running_mean", List.of(floats(shape(4, 16))), true, false),
                    pure("training_norm", images(3, 16, 24)),
                    pure("several_methods", floats(shape(4, 16))),
                    pure("double_precision", floats(shape(4, 16)), floats(shape(9, 16))),
                    pure("no_bias", floats(shape(4, 16)), floats(shape(50, 16))),
                    pure("raises", floats(shape(4, 16))),
                    pure("not_finite", floats(shape(4, 16))),
                    pure("chaotic", floats(shape(4, 16))),
                    pure("quantized", floats(shape(4, 16))),
                    pure("outlier_channel", floats(shape(4, 64))),
                    pure("large_weights", floats(shape(4, 64))),
                    pure("large_rows", identifiers(1, 8)),
                    pure("convolutions", images(3, 32, 48)),
                    pure("convolutions_traced", images(3, 32, 48)),
                    pure("one_image", floats(shape(2, 3, 64, 64)), floats(shape(3, 64, 64))),
                    pure("same_padding", images(3, 32, 48)),
                    pure("large_output", floats(shape(4, 16))));

    private static final ImmutableList<String> TEXTS =
            ImmutableList.of(
                    "text_states",
                    "text_answer",
                    "text_labels",
                    "text_pair",
                    "generator",
                    "cached_generator",
                    "buffered_generator");

    private TorchScriptModels() {}

    /** Returns all models. */
    public static List<TorchScriptModel> all() {
        return ALL;
    }

    /** Returns the models whose outputs depend on the inputs alone. */
    public static List<TorchScriptModel> stateless() {
        return ALL.stream().filter(model -> !model.stateful()).toList();
    }

    /** Returns further models that must not be rewritten, or are hard to rewrite. */
    public static List<TorchScriptModel> hostile() {
        return HOSTILE;
    }

    /** Returns the model of a name. */
    public static TorchScriptModel named(String name) {
        return Stream.concat(ALL.stream(), HOSTILE.stream())
                .filter(model -> model.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Returns the names of the models that read or write text. */
    public static ImmutableList<String> texts() {
        return TEXTS;
    }

    /**
     * Returns a model that reads or writes text. It takes the numbers of tokens that DJL's
     * tokenizers and text generation make.
     */
    public static TorchScriptModel text(String name) {
        checkArgument(TEXTS.contains(name), name);
        return new TorchScriptModel(name, List.of(), false, false);
    }

    private static TorchScriptModel pure(String name, ModelInputs... inputSets) {
        return new TorchScriptModel(name, List.of(inputSets), false, false);
    }

    private static TorchScriptModel pure(String name, List<ModelInputs> inputSets) {
        return new TorchScriptModel(name, inputSets, false, false);
    }

    /** Returns square images of two sizes, and a batch of two images of the first size. */
    private static List<ModelInputs> images(int channels, int side, int otherSide) {
        return List.of(
                floats(shape(1, channels, side, side)),
                floats(shape(1, channels, otherSide, otherSide)),
                floats(shape(2, channels, side, side)));
    }

    private static ModelInputs turns(int batch) {
        return floats(shape(batch, 32)).and(DataType.INT64, 6, 1);
    }

    private static ModelInputs manyInputs(int batch) {
        return floats(shape(batch, 12), shape(batch, 20), shape(1));
    }

    private static ModelInputs identifiers(int batch, int length) {
        return floats().and(DataType.INT64, 100, batch, length);
    }

    private static ModelInputs bytes(int batch, int length) {
        return floats().and(DataType.UINT8, BYTE_VALUES, batch, length)
                .and(DataType.INT8, BYTE_VALUES, batch, length);
    }

    private static long[] shape(long... dimensions) {
        return dimensions;
    }
}
