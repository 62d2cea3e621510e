package org.djlplan.memplan.internal.events;

import java.util.concurrent.atomic.LongAdder;

/** Counts how often and how long predictions of this process waited. */
public final class Waits {

    private static final LongAdder COUNT = new LongAdder();
    private static final LongAdder NANOS = new LongAdder();

    /** The resource that was waited for. */
    public enum Lack {
        /** Threads of {@code memplan.workers}. */
        WORKERS,
        /** Interpreters of a model. */
        INTERPRETERS,
        /** Arenas. */
        ARENAS,
        /** Processors, for a multi-threaded prediction. */
        PROCESSORS,
        /** Places of {@code memplan.maxPredictions}. */
        PREDICTIONS
    }

    private Waits() {}

    /**
     * Counts a wait of this thread that has ended.
     *
     * @param since start of the wait, in {@link System#nanoTime()}
     */
    public static void end(Lack lack, long since) {
        add(lack, System.nanoTime() - since);
    }

    /** Counts a wait of this thread's prediction with its duration in nanoseconds. */
    public static void add(Lack lack, long nanos) {
        COUNT.increment();
        NANOS.add(nanos);
        FlightRecord.waited(lack, nanos);
    }

    /** Returns the number of waits. */
    public static long count() {
        return COUNT.sum();
    }

    /** Returns their total duration. */
    public static long nanos() {
        return NANOS.sum();
    }
}
