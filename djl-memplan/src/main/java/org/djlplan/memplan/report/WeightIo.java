package org.djlplan.memplan.report;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** How pieces of weights are loaded from their file. */
public enum WeightIo {
    /**
     * From the page cache if it has room for the file, otherwise {@link #DIRECT}: copied from it
     * ({@link #CACHED}) if weights lie among activations, mapped ({@link #MMAP}) if they have their
     * own places.
     */
    AUTO,
    /** Copied from the page cache. */
    CACHED,
    /** Pages of the page cache are mapped into the arena. */
    MMAP,
    /**
     * Read without the page cache; through it, and dropped from it, if the file system does not
     * support that.
     */
    DIRECT;

    /** Parses a mode as users write it; empty if there is none with that name. */
    public static Optional<WeightIo> of(String name) {
        return Arrays.stream(values())
                .filter(io -> io.toString().equals(name.trim().toLowerCase(Locale.ROOT)))
                .findFirst();
    }

    /** Returns the name as users write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
