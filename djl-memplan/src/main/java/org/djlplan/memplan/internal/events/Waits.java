package org.djlplan.memplan.internal.events;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts how often and how long predictions of this process waited. */
public final class Waits {

    /** The resource that was waited for. */
    public enum Lack {
        /** Threads of {@code memplan.workers}. */
        WORKERS,
        /** Interpreters of a model. */
        INTERPRETERS,
        /** The arena of a model with a budget: one prediction at a time. */
        ARENAS,
        /** Processors, for a multi-threaded prediction. */
        PROCESSORS,
        /** Places of {@code memplan.maxPredictions}. */
        PREDICTIONS
    }

    private static final Map<Lack, LongAdder> COUNTS = adders();
    private static final Map<Lack, LongAdder> NANOS = adders();

    private static Map<Lack, LongAdder> adders() {
        Map<Lack, LongAdder> adders = new EnumMap<>(Lack.class);
        for (Lack lack : Lack.values()) {
            adders.put(lack, new LongAdder());
        }
        return adders;
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
        COUNTS.get(lack).increment();
        NANOS.get(lack).add(nanos);
        FlightRecord.waited(lack, nanos);
    }

    /** Returns the number of waits for a resource. */
    public static long count(Lack lack) {
        return COUNTS.get(lack).sum();
    }

    /** Returns the total duration of the waits for a resource. */
    public static long nanos(Lack lack) {
        return NANOS.get(lack).sum();
    }
}
