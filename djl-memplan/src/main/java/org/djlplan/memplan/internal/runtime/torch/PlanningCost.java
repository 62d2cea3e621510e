package org.djlplan.memplan.internal.runtime.torch;

import java.util.Arrays;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Estimates whether planning before a prediction pays, that is, takes at most one part in {@link
 * #MOST_COST} of the prediction's time. Both times are estimates: planning is timed in the
 * background, and a prediction's time is computed from the shortest time per allocated byte.
 * Thread-safe.
 */
final class PlanningCost {

    /** Planning may take one part in so many of a prediction's time. */
    static final int MOST_COST = 50;

    /**
     * Planning is timed at least 15 and at most 63 times, because the first times are slow; less
     * often if it takes so long that these times do not matter.
     */
    private static final int LEAST_TIMED = 15;

    private static final int MOST_TIMED = 63;

    /** After this many shapes for which planning took too long, planning is timed again. */
    static final int TIMED_AGAIN = 1024;

    private static final long LONGEST_TIMING_NANOS = 50_000_000;

    /** No more timing begins after this, because other models wait for the planning thread. */
    private static final long LONGEST_SLOW_TIMING_NANOS = 500_000_000;

    private static final long UNKNOWN = Long.MAX_VALUE;

    /** No prediction takes so long that planning pays. */
    private static final long NEVER_PAYS = UNKNOWN - 1;

    private final LongSupplier clock;
    private boolean timing;
    private long planningNanos = UNKNOWN;
    private double nanosPerByte = Double.POSITIVE_INFINITY;

    /** The most elements of inputs for which planning took too long. */
    private long tooFewElements;

    private int tooSmall;

    /**
     * @param clock in nanoseconds
     */
    PlanningCost(LongSupplier clock) {
        this.clock = clock;
    }

    /** Returns whether it is known how long planning and predicting take. */
    synchronized boolean isKnown() {
        return planningNanos != UNKNOWN && nanosPerByte < Double.POSITIVE_INFINITY;
    }

    /**
     * Returns whether the caller must time planning. It must then call {@link #time}, or {@link
     * #abandonTiming} if it cannot.
     */
    synchronized boolean beginTiming() {
        if (timing || planningNanos != UNKNOWN) {
            return false;
        }
        timing = true;
        return true;
    }

    /** Lets others time planning. */
    synchronized void abandonTiming() {
        timing = false;
    }

    /**
     * Times planning repeatedly, and keeps the median. Takes tens of milliseconds, or at most half
     * a second more than planning once.
     *
     * @param planning makes a plan and drops it; returns whether it could make one. Planning never
     *     pays if it cannot.
     */
    void time(BooleanSupplier planning) {
        try {
            long median = medianNanos(planning);
            synchronized (this) {
                planningNanos = median;
            }
        } finally {
            abandonTiming();
        }
    }

    private long medianNanos(BooleanSupplier planning) {
        long[] nanos = new long[MOST_TIMED];
        int count = 0;
        long begin = clock.getAsLong();
        long now = begin;
        while (count < MOST_TIMED && now - begin < longestNanos(count)) {
            if (!planning.getAsBoolean()) {
                return NEVER_PAYS;
            }
            long end = clock.getAsLong();
            nanos[count++] = end - now;
            now = end;
        }
        Arrays.sort(nanos, 0, count);
        return nanos[count / 2];
    }

    private static long longestNanos(int count) {
        return count < LEAST_TIMED ? LONGEST_SLOW_TIMING_NANOS : LONGEST_TIMING_NANOS;
    }

    /**
     * Notes how long a prediction took.
     *
     * @param sumBytes of all its allocations
     */
    synchronized void predicted(long nanos, long sumBytes) {
        nanosPerByte = Math.min(nanosPerByte, (double) nanos / Math.max(1, sumBytes));
    }

    /**
     * Returns whether planning pays for a prediction; false while a time is unknown.
     *
     * @param sumBytes of all its allocations
     * @param elements of its inputs
     */
    synchronized boolean pays(long sumBytes, long elements) {
        if (!isKnown()) {
            return false;
        }
        boolean pays = (double) planningNanos * MOST_COST <= nanosPerByte * sumBytes;
        if (!pays) {
            tooFewElements = Math.max(tooFewElements, elements);
        }
        return pays;
    }

    /**
     * Returns whether planning did not pay for inputs with at least as many elements. Allocations
     * grow with the inputs, so it does not pay for smaller ones either.
     */
    synchronized boolean isTooSmall(long elements) {
        if (elements > tooFewElements) {
            return false;
        }
        if (++tooSmall % TIMED_AGAIN == 0) {
            planningNanos = UNKNOWN;
            tooFewElements = 0;
        }
        return true;
    }
}
