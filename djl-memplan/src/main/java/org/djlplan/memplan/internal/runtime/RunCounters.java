package org.djlplan.memplan.internal.runtime;

/**
 * Positions of the counters that {@code djlplan_run_finish} writes for a run of any engine; {@code
 * djlplan.h} is their documentation.
 */
public final class RunCounters {

    public static final int PLACED = 0;
    public static final int DIVERGED = 1;
    public static final int ALIVE = 2;
    public static final int OUTSIDE = 3;
    public static final int REACHED = 4;
    public static final int MOST_BYTES = 5;
    public static final int KEPT_REACHED = 6;
    public static final int BYTES = 7;
    public static final int ALIVE_BYTES = 8;

    /** The number of counters. */
    public static final int COUNT = 9;

    private RunCounters() {}
}
