package org.djlplan.delegation.cli;

import com.google.common.collect.ImmutableSet;
import java.util.Map;

/** What measurements depend on, as people read it. */
final class KeyFacts {

    /** Those that tell two tables of one model on one machine from each other. */
    static final ImmutableSet<String> SHOWN =
            ImmutableSet.of(
                    "cores",
                    "delegate",
                    "engine",
                    "maxMemoryBytes",
                    "native",
                    "objective",
                    "threads",
                    "tolerance");

    private KeyFacts() {}

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
