package org.djlplan.memplan.internal.report;

import java.util.Locale;

/** Sizes in texts for people: in MB (10⁶ bytes), or in smaller units if they are small. */
public final class Megabytes {

    private static final double KILO = 1e3;
    private static final double MEGA = 1e6;
    private static final long LEAST_MEGABYTES = 100_000;

    private Megabytes() {}

    /** Returns a size, rounded to tenths. */
    public static String of(long bytes) {
        return text(bytes, Math.rint(bytes / MEGA * 10));
    }

    /**
     * Returns a size, rounded up to tenths, so that a budget of the size in a message is enough.
     */
    public static String atLeast(long bytes) {
        return text(bytes, Math.ceil(bytes / MEGA * 10));
    }

    private static String text(long bytes, double tenths) {
        if (bytes >= LEAST_MEGABYTES) {
            return String.format(Locale.ROOT, "%.1f MB", tenths / 10);
        }
        return bytes < KILO
                ? bytes + " bytes"
                : String.format(Locale.ROOT, "%.0f KB", Math.ceil(bytes / KILO));
    }
}
