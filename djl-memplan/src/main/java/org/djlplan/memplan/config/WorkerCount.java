package org.djlplan.memplan.config;

import static com.google.common.base.Preconditions.checkArgument;

import org.djlplan.memplan.machine.Machine;

/**
 * The number of forward passes that run at once.
 *
 * @param fixed the number; 0 if each pass runs on its caller's thread; {@link #AUTO} for as many as
 *     keep the cores busy
 */
public record WorkerCount(int fixed) {

    /** As many as keep the cores busy. */
    public static final int AUTO = -1;

    public WorkerCount {
        checkArgument(fixed >= AUTO, "%s workers", fixed);
    }

    /**
     * Returns how many passes of a TensorFlow Lite model run at once, each with an interpreter and
     * an arena: the given number, or one for each core.
     */
    public int interpreters() {
        return fixed > 0 ? fixed : Machine.cores();
    }

    /**
     * Returns how many arenas PyTorch models use at once: two for each core, as passes on their
     * callers' threads wait for each other, or the given number if it is larger.
     */
    public int arenas() {
        return Math.max(fixed, 2 * Machine.cores());
    }

    /** Returns whether every pass runs on the thread that calls. */
    public boolean isOff() {
        return fixed == 0;
    }

    /** Returns whether the number follows from the machine, not from somebody's wish. */
    public boolean isAuto() {
        return fixed == AUTO;
    }

    /**
     * Returns how many passes run at once. Where the engine uses several threads for each, one more
     * than these fill: it computes while another one's threads wait for each other.
     *
     * @param threads how many the engine uses for each, −1 if that is unknown
     */
    public int forThreads(int threads) {
        return isAuto() ? auto(threads, Machine.cores()) : fixed;
    }

    private static int auto(int threads, int cores) {
        return threads > 1 ? Math.max(1, cores / threads) + 1 : cores;
    }
}
