package org.djlplan.memplan.internal.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** When intermediates of imperative blocks are closed before the call ends. */
public enum Liveness {
    /** As {@link #OP} for DJL's own blocks, otherwise as {@link #OFF}. */
    AUTO,
    /** After the last operation that uses them, according to a recording. */
    OP,
    /** Not at all, as in the stock engine. */
    OFF;

    /** Parses a choice as users write it; empty if there is none with that name. */
    static Optional<Liveness> of(String name) {
        return Arrays.stream(values())
                .filter(choice -> choice.name().toLowerCase(Locale.ROOT).equals(name))
                .findFirst();
    }
}
