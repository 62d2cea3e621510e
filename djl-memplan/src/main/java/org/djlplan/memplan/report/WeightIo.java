package org.djlplan.memplan.report;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** How pieces of weights are loaded from their file. */
public enum WeightIo {
    /**
     * {@link #DIRECT} if the page cache has no room for the file; otherwise {@link #CACHED} if
     * weights lie among activations, or {@link #MMAP} if they have their own places.
     */
    AUTO,
    /** Copied from the page cache. */
    CACHED,
    /** Pages of the page cache are mapped into the arena. */
    MMAP,
    /**
     * Read without the page cache. If the file system does not support that, read through the page
     * cache and then dropped from it.
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
