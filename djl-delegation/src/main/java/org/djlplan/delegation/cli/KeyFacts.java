package org.djlplan.delegation.cli;

import com.google.common.base.Joiner;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.delegation.DelegationKey;
import org.djlplan.delegation.ThreadSetting;
import org.djlplan.memplan.config.OptionKey;

/** What measurements depend on, as people read it. */
final class KeyFacts {

    private static final String USUAL_OBJECTIVE = "latency";
    private static final String USUAL_TOLERANCE = "auto";
    private static final String USUAL_DELEGATE = "xnnpack";

    /** Those that tell two tables of one model on one machine from each other. */
    static final ImmutableSet<String> SHOWN =
            ImmutableSet.of(
                    "cores",
                    "delegate",
                    "engine",
                    "exclude",
                    "maxMemoryBytes",
                    "native",
                    "objective",
                    "threads",
                    "tolerance");

    /** The options that make a key. */
    private static final ImmutableSet<String> KEYS =
            ImmutableSet.of(
                    OptionKey.THREADS.key(),
                    OptionKey.REORDER.key(),
                    DelegationKey.THREADS.key(),
                    DelegationKey.OBJECTIVE.key(),
                    DelegationKey.MAX_MEMORY.key(),
                    DelegationKey.TOLERANCE.key(),
                    DelegationKey.EXCLUDE.key(),
                    DelegationKey.DELEGATE.key());

    private KeyFacts() {}

    /**
     * Returns the options with which a load finds what is kept by these facts; those that are not
     * among them must be as by default. None for loads without options.
     */
    static ImmutableMap<String, String> loads(Map<String, String> facts) {
        ImmutableMap.Builder<String, String> options = ImmutableMap.builder();
        String threads = facts.getOrDefault("threads", "");
        int cores = Integer.parseInt(facts.getOrDefault("cores", "1"));
        if (!threads.equals(Joiner.on(',').join(new ThreadSetting.Auto().candidates(-1, cores)))) {
            options.put(DelegationKey.THREADS.key(), threads);
        }
        String objective = facts.getOrDefault("objective", USUAL_OBJECTIVE);
        if (!objective.equals(USUAL_OBJECTIVE)) {
            options.put(DelegationKey.OBJECTIVE.key(), objective);
        }
        if (facts.containsKey("maxMemoryBytes")) {
            options.put(DelegationKey.MAX_MEMORY.key(), facts.get("maxMemoryBytes"));
        }
        String tolerance = facts.getOrDefault("tolerance", USUAL_TOLERANCE);
        if (!tolerance.equals(USUAL_TOLERANCE)) {
            options.put(DelegationKey.TOLERANCE.key(), tolerance);
        }
        String delegate = facts.getOrDefault("delegate", USUAL_DELEGATE);
        if (!delegate.equals(USUAL_DELEGATE)) {
            // Of a library size and time of change follow.
            options.put(
                    DelegationKey.DELEGATE.key(), delegate.replaceFirst(", \\d+ bytes of .*", ""));
        }
        if (facts.containsKey("exclude")) {
            options.put(DelegationKey.EXCLUDE.key(), facts.get("exclude"));
        }
        if (facts.containsKey("order")) {
            options.put(OptionKey.REORDER.key(), "true");
        }
        return options.buildOrThrow();
    }

    /** Returns a sentence that says which loads find what is kept by these facts. */
    static String loadsText(Map<String, String> facts) {
        ImmutableMap<String, String> options = loads(facts);
        List<String> parts = new ArrayList<>();
        options.forEach((key, value) -> parts.add(key + "=" + value));
        String threads = options.get(DelegationKey.THREADS.key());
        if (threads != null && !threads.equals("-1")) {
            parts.set(0, parts.get(0) + " (or memplan.threads=" + threads + ")");
        }
        return "found by loads %s; other values of %s ask for a measurement of their own"
                .formatted(
                        parts.isEmpty() ? "without options" : "with " + String.join(", ", parts),
                        String.join(", ", KEYS));
    }

    static String text(Map.Entry<String, String> fact) {
        String value = fact.getValue();
        return switch (fact.getKey()) {
            case "maxMemoryBytes" -> "at most " + Figures.mebibytes(Long.parseLong(value));
            case "native" -> "library " + value;
            case "threads" -> "threads: " + (value.equals("-1") ? Figures.threads(-1) : value);
            default -> fact.getKey() + " " + value;
        };
    }
}
