package org.djlplan.memplan.events;

import java.util.concurrent.atomic.LongAdder;

/** How often and how long predictions of this process waited for others. */
public final class Waits {

    private static final LongAdder COUNT = new LongAdder();
    private static final LongAdder NANOS = new LongAdder();

    /** What there were too few of. */
    public enum Lack {
        /** Threads of {@code memplan.workers}. */
        WORKERS,
        /** Interpreters of a model. */
        INTERPRETERS,
        /** Arenas. */
        ARENAS,
        /** Processors, for a prediction on several threads. */
        PROCESSORS,
        /** Places of {@code memplan.maxPredictions}. */
        PREDICTIONS
    }

    private Waits() {}

    /**
     * Counts a wait of this thread that is over.
     *
     * @param since when it began, in {@link System#nanoTime()}
     */
    public static void end(Lack lack, long since) {
        add(lack, System.nanoTime() - since);
    }

    /** Counts a wait of this thread's prediction that took so many nanoseconds. */
    public static void add(Lack lack, long nanos) {
        COUNT.increment();
        NANOS.add(nanos);
        FlightRecord.waited(lack, nanos);
    }

    /** Returns how many there were. */
    public static long count() {
        return COUNT.sum();
    }

    /** Returns how long they were together. */
    public static long nanos() {
        return NANOS.sum();
    }
}
