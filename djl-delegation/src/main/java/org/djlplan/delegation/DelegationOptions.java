package org.djlplan.delegation;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSet;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.Objective;
import org.djlplan.memplan.config.Nearest;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.config.Quantities;

/**
 * The options of delegation of one model.
 *
 * @param enabled whether anything may be delegated
 * @param goal what the choice is to reach
 * @param threads with how many threads the model may run
 * @param profile when candidates are measured
 * @param profileBudget how long measuring may take
 * @param tolerance the largest error of a candidate's outputs against the CPU kernels'
 */
public record DelegationOptions(
        boolean enabled,
        Goal goal,
        ThreadSetting threads,
        ProfileMode profile,
        Duration profileBudget,
        double tolerance) {

    /** {@code false} leaves all operators to the CPU kernels. Default true. */
    public static final String ENABLED = PlanOptions.DELEGATION_PREFIX + "enabled";

    /** The delegate; read by the module that runs it. */
    public static final String DELEGATE = PlanOptions.DELEGATION_PREFIX + "delegate";

    /** What is made small: latency, memory or balanced. Default latency. */
    public static final String OBJECTIVE = PlanOptions.DELEGATION_PREFIX + "objective";

    /** What a choice may take at most, such as 64MB. Default: no limit. */
    public static final String MAX_MEMORY = PlanOptions.DELEGATION_PREFIX + "maxMemory";

    /** Threads per prediction, or auto. Default: the model's own setting. */
    public static final String THREADS = PlanOptions.DELEGATION_PREFIX + "threads";

    /** When to measure: background, blocking or off. Default background. */
    public static final String PROFILE = PlanOptions.DELEGATION_PREFIX + "profile";

    /** How long to measure, such as 10s. Default 10s. */
    public static final String PROFILE_BUDGET = PlanOptions.DELEGATION_PREFIX + "profileBudget";

    /** The largest error of outputs. Default 1e-4. */
    public static final String TOLERANCE = PlanOptions.DELEGATION_PREFIX + "tolerance";

    /** A DJL Progress; used by the module that calls this one. */
    public static final String PROGRESS = PlanOptions.DELEGATION_PREFIX + "progress";

    /** All keys. */
    public static final Set<String> KEYS =
            ImmutableSet.of(
                    ENABLED,
                    DELEGATE,
                    OBJECTIVE,
                    MAX_MEMORY,
                    THREADS,
                    PROFILE,
                    PROFILE_BUDGET,
                    TOLERANCE,
                    PROGRESS);

    private static final Duration LONGEST_BUDGET = Duration.ofHours(24);

    public DelegationOptions {
        checkArgument(!profileBudget.isNegative(), "profileBudget: %s", profileBudget);
        checkArgument(tolerance >= 0 && tolerance <= 1, "tolerance: %s", tolerance);
    }

    /**
     * Reads the options.
     *
     * @param options by key
     * @throws IllegalArgumentException if a key is unknown (the message names the nearest), or a
     *     value is wrong (the message says what is allowed)
     */
    public static DelegationOptions parse(Map<String, String> options) {
        for (String key : options.keySet()) {
            if (!KEYS.contains(key)) {
                throw new IllegalArgumentException(
                        "unknown option "
                                + key
                                + "; the nearest known one is "
                                + Nearest.of(key, KEYS));
            }
        }
        Objective objective =
                value(
                        options,
                        OBJECTIVE,
                        "latency",
                        text -> constant(Objective.values(), text),
                        "latency, memory or balanced");
        OptionalLong maxMemoryBytes =
                options.containsKey(MAX_MEMORY)
                        ? OptionalLong.of(
                                value(
                                        options,
                                        MAX_MEMORY,
                                        "",
                                        Quantities::bytes,
                                        "a size such as 64MB, 64MiB or 1GB"))
                        : OptionalLong.empty();
        return new DelegationOptions(
                value(options, ENABLED, "true", DelegationOptions::flag, "true or false"),
                new Goal(objective, maxMemoryBytes),
                options.containsKey(THREADS)
                        ? value(
                                options,
                                THREADS,
                                "",
                                DelegationOptions::threads,
                                "auto, -1 or a positive number")
                        : new ThreadSetting.AsModel(),
                value(
                        options,
                        PROFILE,
                        "background",
                        text -> constant(ProfileMode.values(), text),
                        "background, blocking or off"),
                value(
                        options,
                        PROFILE_BUDGET,
                        "10s",
                        text -> Quantities.duration(text, LONGEST_BUDGET),
                        "a duration of at most 24h, such as 10s, 500ms or 2m"),
                value(
                        options,
                        TOLERANCE,
                        "1e-4",
                        DelegationOptions::tolerance,
                        "a number from 0 to 1, such as 1e-4"));
    }

    private static <T> T value(
            Map<String, String> options,
            String key,
            String otherwise,
            Function<String, Optional<T>> parser,
            String allowed) {
        String text = options.getOrDefault(key, otherwise);
        return parser.apply(text.trim())
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        key + "=" + text + ": must be " + allowed));
    }

    private static <E extends Enum<E>> Optional<E> constant(E[] constants, String text) {
        return Arrays.stream(constants)
                .filter(constant -> constant.name().equals(text.toUpperCase(Locale.ROOT)))
                .findFirst();
    }

    private static Optional<Boolean> flag(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true" -> Optional.of(true);
            case "false" -> Optional.of(false);
            default -> Optional.empty();
        };
    }

    private static Optional<ThreadSetting> threads(String text) {
        if (text.toLowerCase(Locale.ROOT).equals("auto")) {
            return Optional.of(new ThreadSetting.Auto());
        }
        // Metadata is JSON, whose numbers arrive as 2.0.
        return number(text)
                .filter(number -> number == -1 || (number >= 1 && number <= Short.MAX_VALUE))
                .filter(number -> number == Math.rint(number))
                .map(number -> new ThreadSetting.Fixed((int) (double) number));
    }

    private static Optional<Double> tolerance(String text) {
        return number(text).filter(number -> number >= 0 && number <= 1);
    }

    private static Optional<Double> number(String text) {
        try {
            return Optional.of(Double.valueOf(text));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
