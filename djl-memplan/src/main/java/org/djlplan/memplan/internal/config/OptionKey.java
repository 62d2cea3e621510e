package org.djlplan.memplan.internal.config;

import java.util.Locale;
import org.djlplan.memplan.spi.Option;
import org.djlplan.memplan.spi.Origin;

/** The options of memory planning. A key is {@code memplan.} and the name in camel case. */
public enum OptionKey implements Option {
    ENABLED("true", Origin.ANYONE, "`false` leaves the model as DJL loaded it"),
    REQUIRED(
            "false",
            Origin.ANYONE,
            "`true`: a model that cannot be planned fails to load, instead of running as without"
                    + " djl-plan. With delegation on, a TensorFlow Lite model also fails if no choice"
                    + " is verified while it is loaded; for that, `delegation.profile=background`"
                    + " measures as `blocking` does. A TorchScript model is measured only after it"
                    + " was loaded, so it does not fail for that reason. A cause"
                    + " of the exception is a `NotPlannedException`, which has the reason"),
    WORKERS(
            "auto",
            Origin.UP_TO_THE_CORES,
            "how many large forward passes run at once, counted over all models of the process"
                    + " with the same number; further ones wait. `auto`: one per core; if the engine uses"
                    + " several threads for a prediction, one per that many cores, plus one; for an"
                    + " imperative block only if it consists of DJL's own blocks. A number: for every"
                    + " block, and also the number of a model's interpreters (TensorFlow Lite)."
                    + " `0`: each pass runs on its caller's thread"),
    MAX_PREDICTIONS(
            "any number",
            Origin.ANYONE,
            "how many predictions of the model, with their pre- and post-processing, run at"
                    + " once; further ones wait"),
    MAX_REQUEST(
            "any size",
            Origin.ANYONE,
            "such as `256MB`: the most that one prediction may take. A prediction fails before the"
                    + " model runs if its inputs have more bytes, or if an earlier prediction with"
                    + " the same or shorter inputs needed more; the message names both figures, and"
                    + " the cause is an `InputTooLargeException`. The first prediction of a new"
                    + " shape runs whatever it needs, so limit the length of texts, too"),
    LIMIT_DIMENSIONS(
            "any length",
            Origin.ANYONE,
            "such as `512`: the longest dimension of any input, such as the length of a text or the"
                    + " size of a batch; a larger prediction fails in the same way"),
    BATCH_TOKENS(
            "any number",
            Origin.ANYONE,
            "such as `4096`: `batchPredict` runs its inputs in groups of similar lengths, one after"
                    + " the other, each of at most so many tokens with padding; a longer text runs"
                    + " alone. The outputs have the order of the inputs, and differ from those of one"
                    + " batch by roundings only, if the model has a mask. The translator processes"
                    + " each input once more, alone, to find its length. No effect in DJL 0.27, and"
                    + " for translators without a batchifier, which run one input at a time"),
    THREADS(
            "auto",
            Origin.UP_TO_THE_CORES,
            "TensorFlow Lite: the engine's threads per prediction. `auto` (or −1): with delegation"
                    + " the fastest of 1, 2, 4 … cores for a prediction that runs alone, and fewer"
                    + " beside other work; without it the engine's default. At most 16 or four per"
                    + " core, whichever is more. (PyTorch: `ai.djl.pytorch.num_threads`.)"),
    LIVENESS(
            "auto",
            Origin.ANYONE,
            "imperative blocks: when intermediates are closed. `auto`: after their last use if the"
                    + " block consists of DJL's own blocks, otherwise not; `op`: also in other blocks,"
                    + " assuming that the operations of `forward` depend only on the types of its"
                    + " inputs and on the content of its fields; `off`: never early"),
    VERIFY(
            "false",
            Origin.ANYONE,
            "PyTorch and ONNX Runtime: compare the first planned predictions with stock ones, byte"
                    + " by byte; if they differ, the model runs as stock, with a warning. Runs the"
                    + " model twice, so it is an error for imperative blocks that are not DJL's own,"
                    + " and has no effect on stateful TorchScript models"),
    WARMUP(
            "false",
            Origin.SHAPES_UP_TO_THE_MEMORY,
            "predict zeros while the model is loaded, so that the first request finds what first"
                    + " predictions prepare: with these shapes, such as `1,3,224,224;1,128:int64`, or"
                    + " for PyTorch with `true` the inputs that the model describes; an error for"
                    + " imperative blocks that are not DJL's own. PyTorch and ONNX Runtime"),
    BUDGET(
            "none",
            Origin.UP_TO_THE_MEMORY,
            "the memory that the model may take above that of the idle runtime, including pages of"
                    + " its files: `64MB`; `25%` of the stock engine's memory for it; `auto`: the"
                    + " container's free memory, adjusted when that changes. Weights are loaded while"
                    + " the model runs ([how](how-it-works/budget.md)). A model that does not fit fails"
                    + " to load, and the message names the smallest possible budget; with"
                    + " `64MB:best-effort` it runs in as little memory as possible"),
    SHARED_BUDGET(
            "none",
            Origin.APPLICATION,
            "such as `256MB`: the memory for all models together that `PlannedModels.acquire` loads in"
                    + " this JVM, for example those of an executor. It is"
                    + " [divided](how-it-works/budget.md#meaning-of-a-budget) by their minimum needs and"
                    + " their weights; another size takes effect once none of them is in use"),
    SHARED(
            "false",
            Origin.ANYONE,
            "`true`: loads of the same unchanged file with the same options of djl-plan share one"
                    + " model in this process, each behind a `ZooModel` of its own; it is closed with"
                    + " the last of them. A budget or a limit that is set through one `PlanHandle`"
                    + " applies to all. For `.tflite`, TorchScript and ONNX files; not for"
                    + " TensorFlow Lite models that keep state, and not right for other models that"
                    + " do. DJL's `optOption`s are not compared, because DJL does not pass them on"),
    TRANSLATOR_FACTORY(
            "DJL's",
            Origin.ANYONE,
            "the factory to wrap, if the model is set up without code: a class on the"
                    + " application's class path"),
    BLOCK_FACTORY(
            "the engine's",
            Origin.ANYONE,
            "the block factory to wrap, if `blockFactory` names djl-plan's: a class on the"
                    + " application's class path");

    /** Prefix of every key of this module. */
    public static final String PREFIX = "memplan.";

    private final String key = PREFIX + camelCase(name());

    private final String defaultValue;
    private final Origin origin;
    private final String meaning;

    OptionKey(String defaultValue, Origin origin, String meaning) {
        this.defaultValue = defaultValue;
        this.origin = origin;
        this.meaning = meaning;
    }

    /** Returns the name of a constant, such as {@code MAX_MEMORY}, as {@code maxMemory}. */
    public static String camelCase(String constant) {
        StringBuilder name = new StringBuilder(constant.toLowerCase(Locale.ROOT));
        for (int i = name.indexOf("_"); i >= 0; i = name.indexOf("_")) {
            name.deleteCharAt(i).setCharAt(i, Character.toUpperCase(name.charAt(i)));
        }
        return name.toString();
    }

    @Override
    public String key() {
        return key;
    }

    @Override
    public String defaultValue() {
        return defaultValue;
    }

    @Override
    public Origin origin() {
        return origin;
    }

    @Override
    public String meaning() {
        return meaning;
    }
}
