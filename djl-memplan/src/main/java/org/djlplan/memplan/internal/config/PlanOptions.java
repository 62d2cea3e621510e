package org.djlplan.memplan.internal.config;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.djlplan.memplan.spi.Precision;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * The options of one model.
 *
 * @param enabled whether to plan
 * @param required whether a model that cannot be planned fails to load
 * @param threads the engine's threads per prediction, −1 for its default
 * @param liveness how intermediates of imperative blocks are closed early
 * @param verify whether the first planned predictions are compared with stock ones
 * @param warmup predictions while the model is loaded
 * @param workers number of threads that run forward passes
 * @param requests the limits of predictions
 * @param budget memory limit of the model, and how it is met
 * @param load what a load makes
 * @param delegation the options that start with {@code delegation.}
 */
public record PlanOptions(
        boolean enabled,
        boolean required,
        int threads,
        Liveness liveness,
        boolean verify,
        Warmup warmup,
        WorkerCount workers,
        RequestOptions requests,
        BudgetOptions budget,
        LoadOptions load,
        Map<String, String> delegation) {

    /** Prefix of every delegation option. */
    public static final String DELEGATION_PREFIX = "delegation.";

    /** The key of the lowest permitted precision of weights. */
    public static final String PRECISION = DELEGATION_PREFIX + "precision";

    private static final String AUTO = "auto";

    private static final String DELEGATION_MAX_MEMORY = DELEGATION_PREFIX + "maxMemory";

    private static final String DELEGATION_PROFILE = DELEGATION_PREFIX + "profile";
    private static final String BACKGROUND = "background";

    private static final String EVERY_SHAPE = "every-shape";
    private static final String DELEGATION_ENABLED = DELEGATION_PREFIX + "enabled";

    public PlanOptions {
        delegation = ImmutableMap.copyOf(delegation);
    }

    /** Returns the name of the delegate; by default the engine's delegate for CPUs. */
    public String delegate() {
        return delegation.getOrDefault(DELEGATION_PREFIX + "delegate", "xnnpack");
    }

    /**
     * Returns these options with a memory limit of the delegate; the user's own limit takes
     * precedence. An automatic budget is rounded down, because results are stored for one limit,
     * and the memory that is free differs at each load.
     *
     * @param bytes the budget, {@link Long#MAX_VALUE} for no limit
     */
    public PlanOptions delegatingUnder(long bytes) {
        if (bytes == Long.MAX_VALUE || delegation.containsKey(DELEGATION_MAX_MEMORY)) {
            return this;
        }
        long limit = budget.budget() instanceof Budget.Auto ? roundedDown(bytes) : bytes;
        Map<String, String> limited = new TreeMap<>(delegation);
        limited.put(DELEGATION_MAX_MEMORY, Long.toString(limit));
        return with(threads, limited);
    }

    /** Rounds down to one of four limits between two powers of two, by at most a fifth. */
    private static long roundedDown(long bytes) {
        long step = Math.max(1, Long.highestOneBit(bytes) / 4);
        return bytes / step * step;
    }

    /**
     * Returns these options with a number of threads if none is set.
     *
     * @param asked number of threads with which the engine was asked to run the model, −1 for its
     *     default
     */
    public PlanOptions forThreads(int asked) {
        return threads == Threads.DEFAULT ? with(asked, delegation) : this;
    }

    /**
     * Returns options with which loading waits for the choice of operators, if the model must not
     * be loaded without one; otherwise these options.
     */
    public PlanOptions awaitingDelegation() {
        String profile = delegation.getOrDefault(DELEGATION_PROFILE, BACKGROUND);
        if (!required || !profile.toLowerCase(Locale.ROOT).startsWith(BACKGROUND)) {
            return this;
        }
        Map<String, String> awaited = new TreeMap<>(delegation);
        awaited.put(DELEGATION_PROFILE, "blocking" + profile.substring(BACKGROUND.length()));
        return with(threads, awaited);
    }

    private PlanOptions with(int newThreads, Map<String, String> newDelegation) {
        return new PlanOptions(
                enabled,
                required,
                newThreads,
                liveness,
                verify,
                warmup,
                workers,
                requests,
                budget,
                load,
                newDelegation);
    }

    /** Returns whether operators may be delegated; true by default. */
    public boolean delegationEnabled() {
        String value = delegation.getOrDefault(DELEGATION_ENABLED, "true");
        switch (value.toLowerCase(Locale.ROOT)) {
            case "true":
            case EVERY_SHAPE:
                return true;
            case "false":
                return false;
            default:
                throw wrong(DELEGATION_ENABLED, value, "true, false or " + EVERY_SHAPE);
        }
    }

    /** Returns whether a delegate may also run other input shapes than those in the file. */
    public boolean delegatesEveryShape() {
        return EVERY_SHAPE.equalsIgnoreCase(delegation.get(DELEGATION_ENABLED));
    }

    /** Returns whether weights may have a lower precision than in the model's file. */
    public boolean permitsLowerPrecision() {
        String full = Precision.FLOAT32.toString();
        return !delegation.getOrDefault(PRECISION, full).equals(full);
    }

    /**
     * Reads the options.
     *
     * @throws IllegalArgumentException if a value is invalid
     */
    public static PlanOptions parse(GivenOptions given) {
        Map<OptionKey, String> values = new EnumMap<>(OptionKey.class);
        ImmutableMap.Builder<String, String> delegation = ImmutableMap.builder();
        for (Map.Entry<String, Object> option : given.values().entrySet()) {
            String value = option.getValue().toString().trim();
            Optional<OptionKey> key = keyOf(option.getKey());
            if (key.isPresent()) {
                values.put(key.get(), value);
            } else {
                delegation.put(option.getKey(), value);
            }
        }
        PlanOptions options =
                new PlanOptions(
                        flag(values, OptionKey.ENABLED, true),
                        flag(values, OptionKey.REQUIRED, false),
                        value(
                                values,
                                OptionKey.THREADS,
                                Threads.DEFAULT,
                                text -> autoOr(text, Threads::isSound),
                                "auto or a positive number of at most " + Threads.most()),
                        value(
                                values,
                                OptionKey.LIVENESS,
                                Liveness.AUTO,
                                text -> Liveness.of(text.toLowerCase(Locale.ROOT)),
                                "auto, op or off"),
                        flag(values, OptionKey.VERIFY, false),
                        value(
                                values,
                                OptionKey.WARMUP,
                                Warmup.NONE,
                                Warmup::of,
                                "true, false, or shapes such as 1,3,224,224;1,128:int64"),
                        new WorkerCount(
                                value(
                                        values,
                                        OptionKey.WORKERS,
                                        WorkerCount.AUTO,
                                        text -> autoOr(text, number -> number >= 0),
                                        "a whole number of at least 0")),
                        requests(values),
                        budget(values),
                        new LoadOptions(
                                flag(values, OptionKey.SHARED, false),
                                Optional.ofNullable(values.get(OptionKey.TRANSLATOR_FACTORY)),
                                Optional.ofNullable(values.get(OptionKey.BLOCK_FACTORY))),
                        delegation.buildOrThrow());
        // Evaluated here so that a wrong value is an error at loading.
        boolean unused = options.delegationEnabled();
        return options;
    }

    private static Optional<OptionKey> keyOf(String name) {
        for (OptionKey key : OptionKey.values()) {
            if (key.key().equals(name)) {
                return Optional.of(key);
            }
        }
        return Optional.empty();
    }

    private static boolean flag(Map<OptionKey, String> values, OptionKey key, boolean otherwise) {
        return value(
                values,
                key,
                otherwise,
                text ->
                        switch (text.toLowerCase(Locale.ROOT)) {
                            case "true" -> Optional.of(true);
                            case "false" -> Optional.of(false);
                            default -> Optional.empty();
                        },
                "true or false");
    }

    /** Parses an accepted number, or {@code auto} as −1. */
    private static Optional<Integer> autoOr(String text, Predicate<Integer> accepted) {
        return text.equalsIgnoreCase(AUTO)
                ? Optional.of(-1)
                : Quantities.wholeNumber(text).filter(accepted);
    }

    private static RequestOptions requests(Map<OptionKey, String> values) {
        OptionalInt dimensions = positive(values, OptionKey.LIMIT_DIMENSIONS);
        return new RequestOptions(
                positive(values, OptionKey.MAX_PREDICTIONS),
                value(
                        values,
                        OptionKey.MAX_REQUEST,
                        Long.MAX_VALUE,
                        Quantities::bytes,
                        "a size such as 256MB"),
                dimensions.isPresent() ? dimensions.getAsInt() : Long.MAX_VALUE,
                positive(values, OptionKey.BATCH_TOKENS));
    }

    private static OptionalInt positive(Map<OptionKey, String> values, OptionKey key) {
        int number =
                value(
                        values,
                        key,
                        0,
                        text -> Quantities.wholeNumber(text).filter(n -> n >= 1),
                        "a whole number of at least 1");
        return number == 0 ? OptionalInt.empty() : OptionalInt.of(number);
    }

    private static BudgetOptions budget(Map<OptionKey, String> values) {
        return value(
                        values,
                        OptionKey.BUDGET,
                        BudgetOptions.UNLIMITED,
                        BudgetOptions::of,
                        BudgetOptions.ALLOWED)
                .withShared(
                        sharedBudget(
                                values.getOrDefault(
                                        OptionKey.SHARED_BUDGET,
                                        OptionKey.SHARED_BUDGET.defaultValue())));
    }

    /**
     * Returns the limit of all models of this process together; empty for no limit.
     *
     * @throws IllegalArgumentException if the value of the option is wrong
     */
    public static OptionalLong sharedBudget(String value) {
        String text = value.trim();
        if (text.equals(OptionKey.SHARED_BUDGET.defaultValue())) {
            return OptionalLong.empty();
        }
        Optional<Long> bytes = Quantities.bytes(text);
        return OptionalLong.of(
                bytes.orElseThrow(
                        () ->
                                wrong(
                                        OptionKey.SHARED_BUDGET.key(),
                                        text,
                                        "none or a size with its unit such as 256MB")));
    }

    /** Returns the value of an option. */
    private static <T> T value(
            Map<OptionKey, String> values,
            OptionKey key,
            T otherwise,
            Function<String, Optional<T>> parser,
            String wanted) {
        String text = values.get(key);
        return text == null
                ? otherwise
                : parser.apply(text).orElseThrow(() -> wrong(key.key(), text, wanted));
    }

    private static IllegalArgumentException wrong(String key, String value, String wanted) {
        return new IllegalArgumentException(key + "=" + value + ": must be " + wanted);
    }
}
