package org.djlplan.cli;

import java.util.Map;
import java.util.Optional;
import org.djlplan.delegation.internal.DelegationKey;
import org.djlplan.delegation.internal.DelegationOptions;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.config.Threads;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.thirdparty.guava.base.Joiner;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/** The machine and the settings that measurements depend on, for people. */
final class KeyFacts {

    /** The facts that distinguish two tables of one model on one machine. */
    static final ImmutableSet<String> SHOWN =
            ImmutableSet.of(
                    "cores",
                    "delegate",
                    "engine",
                    "exclude",
                    "maxMemoryBytes",
                    "native",
                    "objective",
                    "precision",
                    DelegableModel.SHAPES,
                    "threads",
                    "tolerance");

    private KeyFacts() {}

    /**
     * Returns the options with which a load finds the table with these facts; all other options
     * must have their default values. Empty for loads without options.
     */
    static ImmutableMap<String, String> loads(Map<String, String> facts) {
        // If cores are not part of the key, the number of threads was set.
        String usualThreads =
                Optional.ofNullable(facts.get("cores"))
                        .map(Integer::parseInt)
                        .map(cores -> DelegationOptions.threadCandidates(Threads.DEFAULT, cores))
                        .map(Joiner.on(',')::join)
                        .orElse("");
        ImmutableMap.Builder<String, String> options = ImmutableMap.builder();
        String threads = facts.get("threads");
        if (threads != null && !threads.equals(usualThreads)) {
            options.put(OptionKey.THREADS.key(), threads);
        }
        if (facts.containsKey(DelegableModel.SHAPES)) {
            options.put(DelegationKey.ENABLED.key(), "every-shape");
        }
        for (DelegationKey key : DelegationKey.values()) {
            String value = facts.getOrDefault(factOf(key), key.defaultValue());
            boolean isUsual =
                    value.equals(key.defaultValue())
                            || (key == DelegationKey.DELEGATE && changesOften(facts, value));
            if (!isUsual) {
                // Removes the size and modification time that follow the path of a delegate's
                // library.
                options.put(key.key(), value.replaceFirst(", \\d+ bytes of .*", ""));
            }
        }
        return options.buildOrThrow();
    }

    /**
     * Returns whether a delegate is XNNPACK with transient buffers because shapes change often:
     * loads with XNNPACK then use it.
     */
    private static boolean changesOften(Map<String, String> facts, String delegate) {
        return Delegates.XNNPACK_TRANSIENT.equals(delegate)
                && mix(facts).map(ShapeMix::changesOften).orElse(false);
    }

    private static Optional<ShapeMix> mix(Map<String, String> facts) {
        try {
            return Optional.ofNullable(facts.get(DelegableModel.SHAPES)).map(ShapeMix::parse);
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** A fact that is an option has the option's name. */
    private static String factOf(DelegationKey key) {
        return key == DelegationKey.MAX_MEMORY
                ? "maxMemoryBytes"
                : key.key().substring(PlanOptions.DELEGATION_PREFIX.length());
    }

    /** Returns a sentence that says which loads find the table with these facts. */
    static String loadsText(Map<String, String> facts) {
        Map<String, String> options = loads(facts);
        return "found by loads "
                + (options.isEmpty()
                        ? "without options"
                        : "with " + Joiner.on(", ").withKeyValueSeparator("=").join(options));
    }

    static String text(Map.Entry<String, String> fact) {
        String value = fact.getValue();
        return switch (fact.getKey()) {
            case "maxMemoryBytes" -> "at most " + Figures.mebibytes(Long.parseLong(value));
            case DelegableModel.SHAPES ->
                    "at "
                            + mix(Map.ofEntries(fact))
                                    .map(mix -> mix.shapes().toString())
                                    .orElse(value);
            case "native" -> "library " + value;
            case "threads" -> "threads: " + (value.equals("-1") ? Figures.threads(-1) : value);
            default -> fact.getKey() + " " + value;
        };
    }
}
