package org.djlplan.delegation.internal;

import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.internal.config.Masked;
import org.djlplan.memplan.internal.config.Nearest;
import org.djlplan.memplan.internal.config.Quantities;
import org.djlplan.memplan.internal.config.Threads;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.Precision;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * The delegation options of one model.
 *
 * @param enabled whether anything may be delegated
 * @param goal of the choice
 * @param profile when candidates are measured
 * @param profileFrom the folder or archive in which stored results are searched first; empty for
 *     none
 * @param onMissing what to do if no result is stored for this hardware
 * @param profileBudget time limit of measuring; empty for one that depends on the model's latency
 * @param tolerance accepted difference of the outputs from the CPU kernels' outputs
 * @param precision of weights that the user permits
 * @param exclude operators that stay in the CPU kernels
 */
public record DelegationOptions(
        boolean enabled,
        Goal goal,
        ProfileMode profile,
        Optional<Path> profileFrom,
        OnMissing onMissing,
        Optional<Duration> profileBudget,
        Tolerance tolerance,
        Precision precision,
        Exclusion exclude) {

    /** The value of options that name nothing. */
    static final String NONE = "none";

    private static final String AUTO = "auto";
    private static final String EVERY_SHAPE = "every-shape";

    /** The longest time limit of measuring that users may set. */
    public static final Duration LONGEST_BUDGET = Duration.ofHours(24);

    private static final Pattern URL =
            Pattern.compile("(?i)(file|https?):.*|[a-z][a-z0-9+.-]*://.*");

    /**
     * Reads the options.
     *
     * @param options by key
     * @throws IllegalArgumentException if a key is unknown (the message names the nearest), or a
     *     value is invalid (the message lists valid values)
     */
    public static DelegationOptions parse(Map<String, String> options) {
        List<String> known = Arrays.stream(DelegationKey.values()).map(DelegationKey::key).toList();
        for (String key : options.keySet()) {
            if (!known.contains(key)) {
                throw new IllegalArgumentException(
                        "unknown option "
                                + key
                                + "; the nearest known one is "
                                + Nearest.of(key, known));
            }
        }
        Profile profile =
                value(
                        options,
                        DelegationKey.PROFILE,
                        Profile::parse,
                        "background, blocking or off, the first two also with a duration of at most"
                                + " 24h, such as blocking:10s");
        return new DelegationOptions(
                value(
                        options,
                        DelegationKey.ENABLED,
                        DelegationOptions::enabled,
                        "true, false or every-shape"),
                new Goal(
                        value(
                                options,
                                DelegationKey.OBJECTIVE,
                                text -> constant(Objective.values(), text),
                                "latency, memory or balanced"),
                        value(
                                options,
                                DelegationKey.MAX_MEMORY,
                                DelegationOptions::limit,
                                "a size with its unit such as 64MB, 64MiB or 1GB")),
                profile.mode(),
                value(
                        options,
                        DelegationKey.PROFILE_FROM,
                        DelegationOptions::location,
                        "the path of a folder or an archive, not a URL; put the result of "
                                + "`djlplan tune` into the model's folder or archive"),
                value(
                        options,
                        DelegationKey.ON_MISSING,
                        text -> constant(OnMissing.values(), text),
                        "fail, cpu or measure"),
                profile.budget(),
                value(
                        options,
                        DelegationKey.TOLERANCE,
                        DelegationOptions::tolerance,
                        "auto or a number from 0 to 1, such as 1e-4"),
                value(
                        options,
                        DelegationKey.PRECISION,
                        Precision::parse,
                        "float32, float16, bfloat16 or int8, the last three also with the least"
                                + " cosine from 0.5 to 1, such as int8:0.98"),
                value(options, DelegationKey.EXCLUDE, Exclusion::parse, Exclusion.ALLOWED));
    }

    private static <T> T value(
            Map<String, String> options,
            DelegationKey key,
            Function<String, Optional<T>> parser,
            String allowed) {
        String text = options.getOrDefault(key.key(), key.defaultValue());
        return parser.apply(text.trim())
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        key.key()
                                                + "="
                                                + Masked.text(text)
                                                + ": must be "
                                                + allowed));
    }

    private static <E extends Enum<E>> Optional<E> constant(E[] constants, String text) {
        return Arrays.stream(constants)
                .filter(constant -> constant.name().equals(text.toUpperCase(Locale.ROOT)))
                .findFirst();
    }

    private static Optional<Boolean> enabled(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true", EVERY_SHAPE -> Optional.of(true);
            case "false" -> Optional.of(false);
            default -> Optional.empty();
        };
    }

    private static Optional<OptionalLong> limit(String text) {
        return text.equals(NONE)
                ? Optional.of(OptionalLong.empty())
                : Quantities.bytes(text).map(OptionalLong::of);
    }

    private static Optional<Optional<Path>> location(String text) {
        if (text.equals(NONE)) {
            return Optional.of(Optional.empty());
        }
        if (text.isEmpty() || URL.matcher(text).matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(Optional.of(Path.of(text)));
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    private static Optional<Tolerance> tolerance(String text) {
        return text.toLowerCase(Locale.ROOT).equals(AUTO)
                ? Optional.of(Tolerance.AUTO)
                : Quantities.number(text)
                        .map(BigDecimal::doubleValue)
                        .filter(number -> number >= 0 && number <= 1)
                        .map(Tolerance::of);
    }

    /**
     * Returns the request for a choice for a model.
     *
     * @throws UnusableOptionException if the options name something that the model does not have
     */
    Request request(DelegableModel model) {
        boolean lower = model.precisions().contains(precision.name());
        List<String> recipes = new ArrayList<>(model.recipes());
        if (lower) {
            recipes.add(precision.name());
        }
        return new Request(
                model.graph(),
                goal,
                model.recipes().isEmpty()
                        ? threadCandidates(
                                model.threads(), Runtime.getRuntime().availableProcessors())
                        : ImmutableList.of(model.threads()),
                profileBudget,
                lower ? tolerance.with(precision) : tolerance,
                model.offersTransientBuffers(),
                exclude.of(model),
                recipes);
    }

    /** Returns whether the first choice stays as long as the model is open. */
    public boolean pinned() {
        return profileFrom.isPresent() || onMissing != OnMissing.MEASURE;
    }

    /** What to do if no result is stored for this hardware. */
    public enum OnMissing {
        /** The model does not load. */
        FAIL,
        /** The CPU kernels serve, and nothing is measured. */
        CPU,
        /** Measures as {@link ProfileMode} says. */
        MEASURE
    }

    /** The time at which candidates are measured. */
    public enum ProfileMode {
        /** While the application runs, starting after the load. */
        BACKGROUND,
        /** Before the model is ready. */
        BLOCKING,
        /** Never. */
        OFF
    }

    /**
     * When to measure, and the time limit.
     *
     * @param budget empty for a limit that depends on the model's latency
     */
    private record Profile(ProfileMode mode, Optional<Duration> budget) {

        static Optional<Profile> parse(String text) {
            List<String> parts = Splitter.on(':').limit(2).trimResults().splitToList(text);
            Optional<ProfileMode> mode = constant(ProfileMode.values(), parts.get(0));
            if (parts.size() == 1) {
                return mode.map(when -> new Profile(when, Optional.empty()));
            }
            return mode.filter(when -> when != ProfileMode.OFF)
                    .flatMap(
                            when ->
                                    Quantities.duration(parts.get(1), LONGEST_BUDGET)
                                            .map(time -> new Profile(when, Optional.of(time))));
        }
    }

    /**
     * Returns the numbers of threads per prediction to choose from, ascending: the given number, or
     * the powers of two below the number of cores, and the number of cores.
     *
     * @param given value of {@code memplan.threads}, −1 for none
     * @param cores of this machine
     */
    public static ImmutableList<Integer> threadCandidates(int given, int cores) {
        if (given != Threads.DEFAULT) {
            return ImmutableList.of(given);
        }
        ImmutableSortedSet.Builder<Integer> numbers = ImmutableSortedSet.naturalOrder();
        for (int number = 1; number < cores; number *= 2) {
            numbers.add(number);
        }
        return numbers.add(cores).build().asList();
    }
}
