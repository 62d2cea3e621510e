package org.djlplan.memplan;

import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.Progress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Builds a {@link PlannedTranslatorFactory} with typed options, in the manner of DJL's builders:
 *
 * <pre>{@code
 * PlannedTranslatorFactory.builder()
 *     .optTranslatorFactory(new ImageClassificationTranslatorFactory())
 *     .optBudget("64MB")
 *     .optWorkers(2)
 *     .build();
 * }</pre>
 *
 * <p>Nothing is required. The method for the option {@code memplan.maxPredictions} is {@code
 * optMaxPredictions}, and for {@code delegation.maxMemory} it is {@code optDelegationMaxMemory};
 * docs/options.md describes the options and their defaults. A value that an option does not accept
 * is an {@link IllegalArgumentException} when a model is loaded, as with {@link
 * PlannedTranslatorFactory#with}.
 *
 * @since 0.3
 */
public final class PlannedTranslatorFactoryBuilder {

    private final Map<String, Object> options = new LinkedHashMap<>();
    private Optional<TranslatorFactory> inner = Optional.empty();
    private Optional<Progress> progress = Optional.empty();

    /** When intermediates of imperative blocks are closed. */
    public enum Liveness {
        /** After their last use if the block and its children are DJL's own, otherwise not. */
        AUTO,
        /** Also in other blocks, while the content of their fields is the recorded one. */
        OP,
        /** Never early. */
        OFF
    }

    /** The figure that the choice of delegated operators minimizes. */
    public enum Objective {
        /** The duration of a prediction. */
        LATENCY,
        /** The memory of delegate and arena. */
        MEMORY,
        /** The product of both. */
        BALANCED
    }

    /** When candidates for the delegate are measured. */
    public enum Profile {
        /** While the model serves from CPU kernels. */
        BACKGROUND,
        /** While the model is loaded. */
        BLOCKING,
        /** Not at all: CPU kernels, unless a result is stored. */
        OFF
    }

    /** What to do if no result is stored for this hardware. */
    public enum OnMissing {
        /** The model fails to load. */
        FAIL,
        /** The CPU kernels serve. */
        CPU,
        /** It is measured, as {@link Profile} says. */
        MEASURE
    }

    PlannedTranslatorFactoryBuilder() {}

    private PlannedTranslatorFactoryBuilder opt(String key, Object value) {
        options.put(key, value);
        return this;
    }

    private PlannedTranslatorFactoryBuilder opt(String key, Enum<?> value) {
        return opt(key, value.name().toLowerCase(Locale.ROOT));
    }

    /** Sets the factory to wrap; by default DJL's. */
    public PlannedTranslatorFactoryBuilder optTranslatorFactory(TranslatorFactory factory) {
        inner = Optional.of(factory);
        return this;
    }

    /** Sets the translator to wrap, instead of a factory. */
    public PlannedTranslatorFactoryBuilder optTranslator(Translator<?, ?> translator) {
        return optTranslatorFactory(PlannedTranslatorFactory.wrap(translator));
    }

    /**
     * Sets a progress display for measuring delegation.
     *
     * @param shown such as a {@code ProgressBar}; called from the measuring thread
     */
    public PlannedTranslatorFactoryBuilder optProgress(Progress shown) {
        progress = Optional.of(shown);
        return this;
    }

    /** Sets whether the model is planned; {@code false} leaves it as DJL loaded it. */
    public PlannedTranslatorFactoryBuilder optEnabled(boolean enabled) {
        return opt("memplan.enabled", enabled);
    }

    /**
     * Sets whether a model fails to load if it cannot be planned, or if delegation is on and no
     * choice is verified. A {@link org.djlplan.memplan.errors.NotPlannedException} is then among
     * the causes.
     */
    public PlannedTranslatorFactoryBuilder optRequired(boolean required) {
        return opt("memplan.required", required);
    }

    /**
     * Sets how many forward passes of the model run at once; further ones wait. With 0 each pass
     * runs on its caller's thread.
     */
    public PlannedTranslatorFactoryBuilder optWorkers(int workers) {
        return opt("memplan.workers", workers);
    }

    /** Sets how many predictions of the model run at once, with pre- and post-processing. */
    public PlannedTranslatorFactoryBuilder optMaxPredictions(int predictions) {
        return opt("memplan.maxPredictions", predictions);
    }

    /**
     * Sets the most that one prediction may take: bytes of its inputs, and memory, as far as
     * earlier predictions show.
     *
     * @param size such as {@code 256MB}
     */
    public PlannedTranslatorFactoryBuilder optMaxRequest(String size) {
        return opt("memplan.maxRequest", size);
    }

    /** The same in bytes. */
    public PlannedTranslatorFactoryBuilder optMaxRequest(long bytes) {
        return opt("memplan.maxRequest", Long.toString(bytes));
    }

    /** Sets the longest dimension of any input. */
    public PlannedTranslatorFactoryBuilder optLimitDimensions(int length) {
        return opt("memplan.limitDimensions", length);
    }

    /**
     * Lets {@code batchPredict} run its inputs in groups of similar lengths.
     *
     * @param tokens limit of the tokens of a group, including padding
     */
    public PlannedTranslatorFactoryBuilder optBatchTokens(int tokens) {
        return opt("memplan.batchTokens", tokens);
    }

    /** Sets the threads of TensorFlow Lite per prediction. */
    public PlannedTranslatorFactoryBuilder optThreads(int threads) {
        return opt("memplan.threads", threads);
    }

    /** Sets when intermediates of imperative blocks are closed. */
    public PlannedTranslatorFactoryBuilder optLiveness(Liveness liveness) {
        return opt("memplan.liveness", liveness);
    }

    /** Sets whether the first planned predictions of PyTorch are compared with stock ones. */
    public PlannedTranslatorFactoryBuilder optVerify(boolean verify) {
        return opt("memplan.verify", verify);
    }

    /** Sets whether PyTorch records while the model is loaded, with the inputs it describes. */
    public PlannedTranslatorFactoryBuilder optWarmup(boolean warmup) {
        return opt("memplan.warmup", warmup);
    }

    /**
     * Sets the inputs that PyTorch records while the model is loaded.
     *
     * @param inputs shapes with the batch, and types: {@code 1,3,224,224;1,128:int64}
     */
    public PlannedTranslatorFactoryBuilder optWarmup(String inputs) {
        return opt("memplan.warmup", inputs);
    }

    /**
     * Sets the memory that the model may take in addition to the idle runtime's.
     *
     * @param budget {@code 64MB}, {@code 25%} of the stock engine's memory, or {@code auto},
     *     optionally followed by {@code :best-effort}
     */
    public PlannedTranslatorFactoryBuilder optBudget(String budget) {
        return opt("memplan.budget", budget);
    }

    /** The same in bytes. */
    public PlannedTranslatorFactoryBuilder optBudget(long bytes) {
        return opt("memplan.budget", bytes + "B");
    }

    /**
     * Sets the memory for all models together that {@link PlannedModels#acquire} loads in this JVM.
     *
     * @param size such as {@code 256MB}
     */
    public PlannedTranslatorFactoryBuilder optSharedBudget(String size) {
        return opt("memplan.sharedBudget", size);
    }

    /** The same in bytes. */
    public PlannedTranslatorFactoryBuilder optSharedBudget(long bytes) {
        return opt("memplan.sharedBudget", bytes + "B");
    }

    /** Sets whether loads of the same file with the same options share one model. */
    public PlannedTranslatorFactoryBuilder optShared(boolean shared) {
        return opt("memplan.shared", shared);
    }

    /** Sets whether operators of TensorFlow Lite models may be delegated. */
    public PlannedTranslatorFactoryBuilder optDelegationEnabled(boolean enabled) {
        return opt("delegation.enabled", enabled);
    }

    /** Lets the delegate also run inputs of other shapes than in the file, once measured. */
    public PlannedTranslatorFactoryBuilder optDelegationEveryShape() {
        return opt("delegation.enabled", "every-shape");
    }

    /**
     * Sets the delegate.
     *
     * @param delegate {@code xnnpack}, {@code xnnpack-transient}, the path of a library, or {@code
     *     class:} and the name of a {@link org.djlplan.memplan.spi.DelegateFactory}
     */
    public PlannedTranslatorFactoryBuilder optDelegationDelegate(String delegate) {
        return opt("delegation.delegate", delegate);
    }

    /** Sets the figure to minimize. */
    public PlannedTranslatorFactoryBuilder optDelegationObjective(Objective objective) {
        return opt("delegation.objective", objective);
    }

    /**
     * Sets the limit for packed weights, workspaces and arena together.
     *
     * @param size such as {@code 64MB}
     */
    public PlannedTranslatorFactoryBuilder optDelegationMaxMemory(String size) {
        return opt("delegation.maxMemory", size);
    }

    /** The same in bytes. */
    public PlannedTranslatorFactoryBuilder optDelegationMaxMemory(long bytes) {
        return opt("delegation.maxMemory", Long.toString(bytes));
    }

    /** Sets when candidates are measured. */
    public PlannedTranslatorFactoryBuilder optDelegationProfile(Profile profile) {
        return opt("delegation.profile", profile);
    }

    /**
     * Sets when candidates are measured, and for how long at most.
     *
     * @param profile not {@link Profile#OFF}
     * @param limit up to 24 hours, in whole milliseconds
     */
    public PlannedTranslatorFactoryBuilder optDelegationProfile(Profile profile, Duration limit) {
        return opt(
                "delegation.profile",
                profile.name().toLowerCase(Locale.ROOT) + ":" + limit.toMillis() + "ms");
    }

    /** Sets the folder or archive with the result of {@code djlplan tune}, which is read first. */
    public PlannedTranslatorFactoryBuilder optDelegationProfileFrom(Path location) {
        return opt("delegation.profileFrom", location.toString());
    }

    /** Sets what to do if no result is stored for this hardware. */
    public PlannedTranslatorFactoryBuilder optDelegationOnMissing(OnMissing onMissing) {
        return opt("delegation.onMissing", onMissing);
    }

    /**
     * Sets a fixed limit for the difference of outputs from the CPU kernels'.
     *
     * @param difference largest difference divided by the largest element, from 0 to 1
     */
    public PlannedTranslatorFactoryBuilder optDelegationTolerance(double difference) {
        return opt("delegation.tolerance", difference);
    }

    /**
     * Permits weights of a lower precision in TorchScript models.
     *
     * @param precision {@code float16}, {@code bfloat16} or {@code int8}, possibly with the least
     *     cosine of outputs and stock's, such as {@code int8:0.98}
     */
    public PlannedTranslatorFactoryBuilder optDelegationPrecision(String precision) {
        return opt("delegation.precision", precision);
    }

    /**
     * Sets operators that stay in the CPU kernels.
     *
     * @param operators numbers in the model's file ({@code 17}, {@code 17-23}), types ({@code
     *     CONV_2D}) or names of output tensors, where {@code *} stands for any characters
     */
    public PlannedTranslatorFactoryBuilder optDelegationExclude(String... operators) {
        return opt("delegation.exclude", String.join(",", operators));
    }

    /** Returns the factory. */
    public PlannedTranslatorFactory build() {
        PlannedTranslatorFactory factory =
                inner.map(PlannedTranslatorFactory::wrap).orElseGet(PlannedTranslatorFactory::new);
        for (Map.Entry<String, Object> option : options.entrySet()) {
            factory = factory.with(option.getKey(), option.getValue());
        }
        return progress.isPresent() ? factory.withProgress(progress.get()) : factory;
    }
}
