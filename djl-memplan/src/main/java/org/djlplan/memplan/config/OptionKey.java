package org.djlplan.memplan.config;

import com.google.common.base.CaseFormat;

/** The options of memory planning. A key is {@code memplan.} and the name in camel case. */
public enum OptionKey implements Option {
    ENABLED("true", Origin.ANYONE, "`false` leaves the model as DJL loaded it"),
    WORKERS(
            "auto",
            Origin.UP_TO_THE_CORES,
            "how many forward passes of a model run at once; more wait. `auto`: one for each core; if"
                    + " the engine uses several threads for a prediction, one for as many cores, and"
                    + " one more; of an imperative block only if its code is known to be pure. A"
                    + " number: of every block, and so many interpreters (TFLite). `0`: each pass"
                    + " runs on its caller's thread"),
    MAX_PREDICTIONS(
            "any number",
            Origin.ANYONE,
            "how many predictions of the model, with their pre- and post-processing, "
                    + "may be under way at once; more wait"),
    THREADS(
            "auto",
            Origin.UP_TO_THE_CORES,
            "TFLite: the engine's threads per prediction. `auto` (or −1): with delegation the best of"
                    + " 1, 2, 4 … cores for a prediction that has them for itself, fewer beside other"
                    + " work; without it the engine's default. Never more than 16 or, if that is"
                    + " more, four per core. (PyTorch: `ai.djl.pytorch.num_threads`.)"),
    LIVENESS(
            "auto",
            Origin.ANYONE,
            "imperative blocks: close each intermediate after the last operation "
                    + "that uses it where the code of the block is known to be pure, else not "
                    + "at all (`auto`); also in a block that keeps state, while its state is "
                    + "what was recorded (`op`); or not (`off`)"),
    VERIFY(
            "false",
            Origin.ANYONE,
            "PyTorch: compare the first planned predictions with stock ones, byte by "
                    + "byte; a difference leaves the model as stock, with a warning. Runs the "
                    + "model twice, so it is an error for imperative blocks that are not "
                    + "known to be pure, and not for TorchScript models that keep state"),
    WARMUP(
            "false",
            Origin.SHAPES_UP_TO_THE_MEMORY,
            "PyTorch: record while the model is loaded, so that the first prediction is planned"
                    + " already: `true` with inputs as the model describes them, or their shapes,"
                    + " such as `1,3,224,224;1,128:int64`; an error for imperative blocks that are"
                    + " not known to be pure"),
    BUDGET(
            "none",
            Origin.UP_TO_THE_MEMORY,
            "the memory that the model may take above that of the idle runtime, pages of its files"
                    + " included: `64MB`; `25%` of the stock engine's memory for it; `auto`: the"
                    + " container's free memory, followed as that changes. Weights are loaded while"
                    + " it runs; [how](how-it-works/budget.md). A model that does not fit fails to"
                    + " load, and the message names the least budget; with `64MB:best-effort` it"
                    + " runs in as little as it can"),
    SHARED_BUDGET(
            "none",
            Origin.APPLICATION,
            "such as `256MB`: the memory that all models together may take that "
                    + "`PlannedModels.get` loads in this JVM, as those of an executor; "
                    + "[divided](how-it-works/budget.md#what-a-budget-is) by what they need and by "
                    + "their weights; another size counts when none of them is used"),
    TRANSLATOR_FACTORY(
            "DJL's",
            Origin.ANYONE,
            "the factory to wrap, on the routes without code: a class on the "
                    + "application's class path"),
    BLOCK_FACTORY(
            "the engine's",
            Origin.ANYONE,
            "the block factory to wrap, on the route through `blockFactory`: a class "
                    + "on the application's class path");

    /** What every key of this module starts with. */
    public static final String PREFIX = "memplan.";

    private final String key =
            PREFIX + CaseFormat.UPPER_UNDERSCORE.to(CaseFormat.LOWER_CAMEL, name());

    private final String otherwise;
    private final Origin origin;
    private final String meaning;

    OptionKey(String otherwise, Origin origin, String meaning) {
        this.otherwise = otherwise;
        this.origin = origin;
        this.meaning = meaning;
    }

    @Override
    public String key() {
        return key;
    }

    @Override
    public String otherwise() {
        return otherwise;
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
