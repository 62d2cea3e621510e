package org.djlplan.memplan.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The way in which pieces of weights come from their file into an arena. */
public enum WeightIo {
    /**
     * From the page cache where that has room for the file, else {@link #DIRECT}: copied from it
     * ({@link #CACHED}) where weights lie among activations, mapped ({@link #MMAP}) where they have
     * places of their own.
     */
    AUTO,
    /** Copied from the page cache. */
    CACHED,
    /** Pages of the page cache are mapped into the arena. */
    MMAP,
    /** Read past the page cache; through it, and dropped from it, where the file system refuses. */
    DIRECT;

    /** Returns the way that users write as {@code name}, or empty if there is none. */
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
