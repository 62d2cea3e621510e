package org.djlplan.memplan.config;

import static com.google.common.base.Preconditions.checkArgument;

import org.djlplan.memplan.machine.Machine;

/**
 * The number of forward passes that run at once, each on a thread of few.
 *
 * @param fixed the number; 0 for any number, on the threads that call; {@link #AUTO} for as many as
 *     keep the cores busy
 * @param most never more than this
 */
public record WorkerCount(int fixed, int most) {

    /** As many as keep the cores busy. */
    public static final int AUTO = -1;

    public WorkerCount {
        checkArgument(fixed >= AUTO, "%s workers", fixed);
        checkArgument(most > 0, "at most %s workers", most);
    }

    /** As many as {@code fixed} says. */
    public WorkerCount(int fixed) {
        this(fixed, Integer.MAX_VALUE);
    }

    /** Returns the same, but never more than a number. */
    public WorkerCount atMost(int number) {
        return new WorkerCount(fixed, Math.min(most, number));
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
        return Math.min(isAuto() ? auto(threads, Machine.cores()) : fixed, most);
    }

    private static int auto(int threads, int cores) {
        return threads > 1 ? Math.max(1, cores / threads) + 1 : cores;
    }
}
