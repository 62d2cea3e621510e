package org.djlplan.delegation;

import com.google.common.base.CaseFormat;
import org.djlplan.memplan.config.Option;
import org.djlplan.memplan.config.Origin;
import org.djlplan.memplan.config.PlanOptions;

/** The options of delegation. A key is {@code delegation.} and the name in camel case. */
public enum DelegationKey implements Option {
    ENABLED("true", Origin.ANYONE, "TFLite: use `djl-delegation` if it is there"),
    DELEGATE(
            "xnnpack",
            Origin.APPLICATION,
            "or `xnnpack-transient`, which always builds indirection buffers for each prediction:"
                    + " less memory, more time (TensorFlow Lite 2.20 and later); or the path of a library with TFLite's external delegate interface, or `class:` and"
                    + " the name of a `DelegateFactory` (a GPU, NNAPI … delegate with a native"
                    + " handle); those run in the application only after a child JVM proved them"),
    OBJECTIVE(
            "latency",
            Origin.ANYONE,
            "what is made small: `latency`, `memory`, or `balanced` (their product); where memory"
                    + " counts, here or in `delegation.maxMemory`, sets are also tried with"
                    + " indirection buffers that XNNPACK builds for each prediction (TensorFlow"
                    + " Lite 2.20 and later)"),
    MAX_MEMORY(
            "none",
            Origin.UP_TO_THE_MEMORY,
            "such as `64MB`: what packed weights, workspaces and arena may take together; measured,"
                    + " not guessed"),
    PROFILE(
            "background",
            Origin.UP_TO_A_MINUTE,
            "measure in the `background`, while loading (`blocking`), or not at all (`off`: CPU"
                    + " kernels, unless a result is stored). `background:3s` or `blocking:3s` limits"
                    + " the time; without a limit it is 7 s and 40 inferences in the CPU kernels"),
    PROFILE_FROM(
            "none",
            Origin.APPLICATION,
            "the path of a folder or an archive (zip, jar, tar.gz) with what `djlplan tune` kept,"
                    + " which is read first and never written; the job is pinned then: what it"
                    + " begins with stays, [how](operations.md#one-choice-for-all-machines)"),
    ON_MISSING(
            "measure",
            Origin.ANYONE,
            "what to do where nothing is kept for this hardware: `fail` to load, stay with the CPU"
                    + " kernels (`cpu`), or `measure`, as `delegation.profile` says. The first two"
                    + " pin the job, too"),
    TOLERANCE(
            "auto",
            Origin.ANYONE,
            "sets whose outputs differ by more from the CPU kernels' are not used. `auto`: by more"
                    + " than roundings may move them in this model. A number is a hard limit:"
                    + " largest difference / largest element for floats; 8- and 16-bit integers may"
                    + " differ by one step then, others not at all"),
    EXCLUDE(
            "none",
            Origin.ANYONE,
            "operators that stay in the CPU kernels, separated by commas: numbers in the model's"
                    + " file (`17`, `17-23`), types (`CONV_2D`) or names of output tensors, where"
                    + " `*` stands for anything; [how](how-it-works/delegation.md)");

    private final String key =
            PlanOptions.DELEGATION_PREFIX
                    + CaseFormat.UPPER_UNDERSCORE.to(CaseFormat.LOWER_CAMEL, name());

    private final String otherwise;
    private final Origin origin;
    private final String meaning;

    DelegationKey(String otherwise, Origin origin, String meaning) {
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
