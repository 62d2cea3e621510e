package org.djlplan.memplan.internal.config;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import org.djlplan.memplan.internal.machine.Machine;

/**
 * The number of forward passes that run at once.
 *
 * @param fixed the number; 0 if each pass runs on its caller's thread; {@link #AUTO} for enough to
 *     keep the cores busy
 */
public record WorkerCount(int fixed) {

    /** Enough to keep the cores busy. */
    public static final int AUTO = -1;

    public WorkerCount {
        checkArgument(fixed >= AUTO, "%s workers", fixed);
    }

    /**
     * Returns how many passes of a TensorFlow Lite model run at once, each with an interpreter and
     * an arena: the given number, or one per core.
     */
    public int interpreters() {
        return fixed > 0 ? fixed : Machine.cores();
    }

    /**
     * Returns how many passes of TensorFlow Lite models run at once. Not more than a model's
     * interpreters, because further passes would have to wait for these anyway.
     *
     * @param threads of the engine per pass
     */
    public int passes(int threads) {
        return isOff() ? 0 : Math.min(interpreters(), forThreads(threads));
    }

    /** Returns whether every pass runs on its caller's thread. */
    public boolean isOff() {
        return fixed == 0;
    }

    /** Returns whether the number is derived from the machine, not set by the user. */
    public boolean isAuto() {
        return fixed == AUTO;
    }

    /**
     * Returns how many passes run at once. If the engine uses several threads per pass, one more
     * pass runs than the cores can hold: it computes while the threads of another pass wait for
     * each other.
     *
     * @param threads of the engine per pass, −1 if unknown
     */
    public int forThreads(int threads) {
        return isAuto() ? auto(threads, Machine.cores()) : fixed;
    }

    private static int auto(int threads, int cores) {
        return threads > 1 ? Math.max(1, cores / threads) + 1 : cores;
    }
}
