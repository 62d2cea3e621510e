package org.djlplan.memplan.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The ways to close intermediates of imperative blocks before the call ends. */
public enum Liveness {
    /** As {@link #OP} for blocks that are known to be pure, and not at all for others. */
    AUTO,
    /** After the last operation that uses them, as recorded once. */
    OP,
    /** Not at all, as in the stock engine. */
    OFF;

    /** Returns the choice that users write as {@code name}, or empty if there is none. */
    static Optional<Liveness> of(String name) {
        return Arrays.stream(values())
                .filter(choice -> choice.name().toLowerCase(Locale.ROOT).equals(name))
                .findFirst();
    }
}
