package org.djlplan.delegation.internal;

import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.spi.Option;
import org.djlplan.memplan.spi.Origin;

/** The options of delegation. A key is {@code delegation.} and the name in camel case. */
public enum DelegationKey implements Option {
    ENABLED(
            "true",
            Origin.ANYONE,
            "`true`: use `djl-delegation` if it is on the class path, for TensorFlow"
                    + " Lite and for TorchScript models. `false`: the outputs are stock's bytes."
                    + " `every-shape`: for TensorFlow Lite also for inputs of other shapes than in"
                    + " the file, once shapes that enclose them were measured (TensorFlow Lite"
                    + " 2.20 and later); that can take several times the memory of the CPU kernels"
                    + " ([how](how-it-works/delegation.md#other-shapes))"),
    DELEGATE(
            "xnnpack",
            Origin.APPLICATION,
            "TensorFlow Lite: or `xnnpack-transient`, which builds indirection buffers"
                    + " for each prediction: less memory, more time (TensorFlow Lite 2.20 and"
                    + " later); or the path of a library with TensorFlow Lite's external delegate"
                    + " interface, or `class:` and the name of a `DelegateFactory` (a GPU, NNAPI …"
                    + " delegate with a native handle); such a delegate runs in the application"
                    + " only after a child JVM has verified it"),
    OBJECTIVE(
            "latency",
            Origin.ANYONE,
            "the figure to minimize: `latency`, `memory`, or `balanced` (their product); if memory"
                    + " counts, here or in `delegation.maxMemory`, sets are also tried with indirection"
                    + " buffers that XNNPACK builds for each prediction (TensorFlow Lite 2.20 and"
                    + " later)"),
    MAX_MEMORY(
            "none",
            Origin.UP_TO_THE_MEMORY,
            "such as `64MB`: the limit for packed weights, workspaces and arena together;"
                    + " these are measured, not estimated"),
    PROFILE(
            "background",
            Origin.UP_TO_A_MINUTE,
            "measure in the `background`, while loading (`blocking`), or not at all"
                    + " (`off`: CPU kernels, unless a result is stored). `background:3s` or"
                    + " `blocking:3s` limits the time; the default limit is 7 s plus the time of"
                    + " 40 inferences in the CPU kernels. A TorchScript model is measured after"
                    + " its first predictions, or with `blocking` during the first one"),
    PROFILE_FROM(
            "none",
            Origin.APPLICATION,
            "the path of a folder or an archive (zip, jar, tar.gz) with the result of `djlplan"
                    + " tune`, which is read first and never written; the job is then pinned: its first"
                    + " choice stays ([how](operations.md#one-choice-for-all-machines))"),
    ON_MISSING(
            "measure",
            Origin.ANYONE,
            "what to do if no result is stored for this hardware: fail to load (`fail`),"
                    + " stay with the CPU kernels (`cpu`), or measure as `delegation.profile` says"
                    + " (`measure`). The first two pin the job, too"),
    TOLERANCE(
            "auto",
            Origin.ANYONE,
            "the largest accepted difference of a set's outputs from the CPU kernels'."
                    + " `auto`: as much as roundings can change them in this model. A number is a"
                    + " fixed limit: largest difference / largest element for floats; 8- and 16-bit"
                    + " integers may then differ by one step, others not at all"),
    PRECISION(
            "float32",
            Origin.APPLICATION,
            "TorchScript: the lowest precision of weights that may serve: `float16`, `bfloat16` or"
                    + " `int8` (linear layers and embeddings; everything else stays as it is). It"
                    + " serves if it is at least 5 % faster, and if the outputs of the first 32"
                    + " predictions are close to stock's: the cosine of each is at least 0.9999,"
                    + " 0.999 or 0.97; `int8:0.98` sets another limit"
                    + " ([how](how-it-works/delegation.md#lower-precision))"),
    EXCLUDE(
            "none",
            Origin.ANYONE,
            "TensorFlow Lite: operators that stay in the CPU kernels, separated by"
                    + " commas: numbers in the model's file (`17`, `17-23`), types (`CONV_2D`) or"
                    + " names of output tensors, where `*` stands for any characters"
                    + " ([how](how-it-works/delegation.md))");

    private final String key = PlanOptions.DELEGATION_PREFIX + OptionKey.camelCase(name());

    private final String defaultValue;
    private final Origin origin;
    private final String meaning;

    DelegationKey(String defaultValue, Origin origin, String meaning) {
        this.defaultValue = defaultValue;
        this.origin = origin;
        this.meaning = meaning;
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
