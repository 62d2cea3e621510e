package org.djlplan.memplan.config;

import org.djlplan.memplan.machine.Machine;

/** Limits of the number of threads per prediction that an engine is asked for. */
public final class Threads {

    /** Stands for the engine's own default. */
    public static final int DEFAULT = -1;

    private static final int PER_CORE = 4;
    private static final int ALWAYS = 16;

    private Threads() {}

    /**
     * Returns the most that anybody may ask for: engines start every thread they are asked for, and
     * some thousand of them end the process.
     */
    public static int most() {
        return Math.max(ALWAYS, PER_CORE * Machine.cores());
    }

    /** Returns whether a number may be asked for. */
    public static boolean isSound(int threads) {
        return threads == DEFAULT || (threads > 0 && threads <= most());
    }
}
