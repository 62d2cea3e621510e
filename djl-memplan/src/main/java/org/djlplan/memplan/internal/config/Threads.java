package org.djlplan.memplan.internal.config;

import org.djlplan.memplan.internal.machine.Machine;

/** Limits of the number of engine threads per prediction. */
public final class Threads {

    /** The engine's own default. */
    public static final int DEFAULT = -1;

    private static final int PER_CORE = 4;
    private static final int ALWAYS = 16;

    private Threads() {}

    /**
     * Returns the largest permitted number, because engines start every requested thread, and some
     * thousands of them would crash the process.
     */
    public static int most() {
        return Math.max(ALWAYS, PER_CORE * Machine.cores());
    }

    /** Returns whether a number is permitted. */
    public static boolean isSound(int threads) {
        return threads == DEFAULT || (threads > 0 && threads <= most());
    }
}
