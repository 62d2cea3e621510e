package org.djlplan.delegation;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.Goal.Objective;
import org.djlplan.memplan.config.Masked;
import org.djlplan.memplan.config.Nearest;
import org.djlplan.memplan.config.Quantities;
import org.djlplan.memplan.config.Threads;
import org.djlplan.memplan.spi.Tolerance;

/**
 * The options of delegation of one model.
 *
 * @param enabled whether anything may be delegated
 * @param goal what the choice is to reach
 * @param threads with how many threads the model may run
 * @param profile when candidates are measured
 * @param profileFrom the folder or archive that is read first; empty for none
 * @param onMissing what to do where nothing is kept for this hardware
 * @param profileBudget how long measuring may take; empty for as long as the model's latency asks
 *     for
 * @param tolerance by which outputs are judged against the CPU kernels'
 * @param exclude operators that stay in the CPU kernels
 */
public record DelegationOptions(
        boolean enabled,
        Goal goal,
        ThreadSetting threads,
        ProfileMode profile,
        Optional<Path> profileFrom,
        OnMissing onMissing,
        Optional<Duration> profileBudget,
        Tolerance tolerance,
        Exclusion exclude) {

    private static final String AUTO = "auto";
    private static final String NONE = "none";

    private static final Duration LONGEST_BUDGET = Duration.ofHours(24);

    private static final Pattern URL =
            Pattern.compile("(?i)(file|https?):.*|[a-z][a-z0-9+.-]*://.*");

    public DelegationOptions {
        checkArgument(
                profileBudget.isEmpty() || !profileBudget.get().isNegative(),
                "profileBudget: %s",
                profileBudget);
    }

    /**
     * Reads the options.
     *
     * @param options by key
     * @throws IllegalArgumentException if a key is unknown (the message names the nearest), or a
     *     value is wrong (the message says what is allowed)
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
        Objective objective =
                value(
                        options,
                        DelegationKey.OBJECTIVE,
                        "latency",
                        text -> constant(Objective.values(), text),
                        "latency, memory or balanced");
        OptionalLong maxMemoryBytes =
                options.containsKey(DelegationKey.MAX_MEMORY.key())
                        ? OptionalLong.of(
                                value(
                                        options,
                                        DelegationKey.MAX_MEMORY,
                                        "",
                                        Quantities::bytes,
                                        "a size such as 64MB, 64MiB or 1GB"))
                        : OptionalLong.empty();
        return new DelegationOptions(
                value(
                        options,
                        DelegationKey.ENABLED,
                        "true",
                        DelegationOptions::flag,
                        "true or false"),
                new Goal(objective, maxMemoryBytes),
                options.containsKey(DelegationKey.THREADS.key())
                        ? value(
                                options,
                                DelegationKey.THREADS,
                                "",
                                DelegationOptions::threads,
                                "auto, -1 or a positive number of at most " + Threads.most())
                        : new ThreadSetting.AsModel(),
                value(
                        options,
                        DelegationKey.PROFILE,
                        "background",
                        text -> constant(ProfileMode.values(), text),
                        "background, blocking or off"),
                value(
                        options,
                        DelegationKey.PROFILE_FROM,
                        NONE,
                        DelegationOptions::location,
                        "the path of a folder or an archive, not a URL; put what `djlplan tune`"
                                + " kept into the model's folder or archive"),
                value(
                        options,
                        DelegationKey.ON_MISSING,
                        "measure",
                        text -> constant(OnMissing.values(), text),
                        "fail, cpu or measure"),
                value(
                        options,
                        DelegationKey.PROFILE_BUDGET,
                        AUTO,
                        DelegationOptions::budget,
                        "auto or a duration of at most 24h, such as 10s, 500ms or 2m"),
                value(
                        options,
                        DelegationKey.TOLERANCE,
                        AUTO,
                        DelegationOptions::tolerance,
                        "auto or a number from 0 to 1, such as 1e-4"),
                value(options, DelegationKey.EXCLUDE, "", Exclusion::parse, Exclusion.ALLOWED));
    }

    private static <T> T value(
            Map<String, String> options,
            DelegationKey key,
            String otherwise,
            Function<String, Optional<T>> parser,
            String allowed) {
        String text = options.getOrDefault(key.key(), otherwise);
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

    private static Optional<Boolean> flag(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true" -> Optional.of(true);
            case "false" -> Optional.of(false);
            default -> Optional.empty();
        };
    }

    private static Optional<ThreadSetting> threads(String text) {
        if (text.toLowerCase(Locale.ROOT).equals(AUTO)) {
            return Optional.of(new ThreadSetting.Auto());
        }
        // Metadata is JSON, whose numbers arrive as 2.0.
        return number(text)
                .filter(number -> number == Math.rint(number))
                .map(Double::intValue)
                .filter(Threads::isSound)
                .map(ThreadSetting.Fixed::new);
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

    private static Optional<Optional<Duration>> budget(String text) {
        if (text.toLowerCase(Locale.ROOT).equals(AUTO)) {
            return Optional.of(Optional.empty());
        }
        Optional<Duration> given = Quantities.duration(text, LONGEST_BUDGET);
        return given.isPresent() ? Optional.of(given) : Optional.empty();
    }

    private static Optional<Tolerance> tolerance(String text) {
        return text.toLowerCase(Locale.ROOT).equals(AUTO)
                ? Optional.of(Tolerance.AUTO)
                : number(text).filter(number -> number >= 0 && number <= 1).map(Tolerance::of);
    }

    private static Optional<Double> number(String text) {
        try {
            return Optional.of(Double.valueOf(text));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Returns whether what the model begins with stays as long as it is open. */
    public boolean pinned() {
        return profileFrom.isPresent() || onMissing != OnMissing.MEASURE;
    }

    /** What to do where nothing is kept for this hardware. */
    public enum OnMissing {
        /** The model does not load. */
        FAIL,
        /** The CPU kernels serve, and nothing is measured. */
        CPU,
        /** It is measured as the {@link ProfileMode} says. */
        MEASURE
    }

    /** The time at which candidates are measured. */
    public enum ProfileMode {
        /** While the application runs, beginning with a prediction. */
        BACKGROUND,
        /** Before the model is ready. */
        BLOCKING,
        /** Never. */
        OFF
    }

    /** The numbers of threads per prediction with which a model may run. */
    public sealed interface ThreadSetting {

        /**
         * Returns the numbers of threads to choose from, in ascending order.
         *
         * @param ofModel the model's own setting, −1 for the engine's default
         * @param cores of this machine
         */
        List<Integer> candidates(int ofModel, int cores);

        /**
         * As many as the model's own setting says; if it says nothing, as many as are found best.
         */
        record AsModel() implements ThreadSetting {
            @Override
            public List<Integer> candidates(int ofModel, int cores) {
                return ofModel == -1
                        ? new Auto().candidates(ofModel, cores)
                        : ImmutableList.of(ofModel);
            }
        }

        /**
         * As many as are found best: the powers of two up to the number of cores, and that number.
         */
        record Auto() implements ThreadSetting {
            @Override
            public List<Integer> candidates(int ofModel, int cores) {
                ImmutableSortedSet.Builder<Integer> numbers = ImmutableSortedSet.naturalOrder();
                for (int number = 1; number < cores; number *= 2) {
                    numbers.add(number);
                }
                return numbers.add(cores).build().asList();
            }
        }

        /**
         * So many.
         *
         * @param threads a positive number, or −1 for the engine's default
         */
        record Fixed(int threads) implements ThreadSetting {

            public Fixed {
                checkArgument(threads == -1 || threads > 0, "threads: %s", threads);
            }

            @Override
            public List<Integer> candidates(int ofModel, int cores) {
                return ImmutableList.of(threads);
            }
        }
    }
}
