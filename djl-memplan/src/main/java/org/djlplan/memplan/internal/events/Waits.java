package org.djlplan.memplan.internal.events;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.djlplan.memplan.report.PoolReport.Cause;

/** Counts how often and how long predictions of this process waited. */
public final class Waits {

    private static final Map<Cause, LongAdder> COUNTS = adders();
    private static final Map<Cause, LongAdder> NANOS = adders();

    private static Map<Cause, LongAdder> adders() {
        Map<Cause, LongAdder> adders = new EnumMap<>(Cause.class);
        for (Cause cause : Cause.values()) {
            adders.put(cause, new LongAdder());
        }
        return adders;
    }

    private Waits() {}

    /** Counts a wait of this thread's prediction with its duration in nanoseconds. */
    public static void add(Cause cause, long nanos) {
        COUNTS.get(cause).increment();
        NANOS.get(cause).add(nanos);
        FlightRecord.waited(cause, nanos);
    }

    /** Returns the number of waits with a cause. */
    public static long count(Cause cause) {
        return COUNTS.get(cause).sum();
    }

    /** Returns the total duration of the waits with a cause. */
    public static long nanos(Cause cause) {
        return NANOS.get(cause).sum();
    }
}
