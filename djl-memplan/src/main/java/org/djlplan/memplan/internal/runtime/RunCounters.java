package org.djlplan.memplan.internal.runtime;

/**
 * Positions of the counters that {@code djlplan_run_finish} writes for a run of any engine; {@code
 * djlplan.h} is their documentation.
 */
public final class RunCounters {

    public static final int PLACED = 0;
    public static final int REFUSED = 1;
    public static final int DIVERGED = 2;
    public static final int MISSING = 3;
    public static final int ALIVE = 4;
    public static final int FITTED = 5;
    public static final int OUTSIDE = 6;
    public static final int REACHED = 7;
    public static final int MOST_BYTES = 8;
    public static final int KEPT_REACHED = 9;
    public static final int BYTES = 10;
    public static final int ALIVE_BYTES = 11;

    /** The number of counters. */
    public static final int COUNT = 12;

    private RunCounters() {}
}
