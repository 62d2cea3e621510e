package org.djlplan.memplan.internal.runtime.ort;

import org.djlplan.memplan.internal.report.PlanReportRecord;
import org.djlplan.memplan.internal.runtime.RecentPeak;
import org.djlplan.memplan.internal.runtime.RunCounters;
import org.djlplan.memplan.report.PlanReport.Plan;

/**
 * Counts the results of one model's predictions, and keeps the figures of the prediction that
 * reached furthest in its arena. Not thread-safe: {@link OrtMemory} guards it.
 */
final class OrtTally {

    private static final String STRATEGY = "first-fit";

    private final RecentPeak recent = new RecentPeak();
    private long predictions;
    private long placed;
    private long outside;
    private long escaped;
    private Largest largest = new Largest(0, 0, 0, 0);

    /** The prediction that reached furthest in its arena. */
    private record Largest(long allocations, long bytes, long mostBytes, long reachedBytes) {}

    /** Counts a prediction that begins, with or without an arena. */
    void begun() {
        predictions++;
    }

    /**
     * Counts a prediction that ended, and had an arena.
     *
     * @param counters of its run, by {@link RunCounters}
     * @param bytes of all its allocations
     */
    void placed(long[] counters, long bytes) {
        placed++;
        recent.note(counters[RunCounters.MOST_BYTES]);
        outside += counters[RunCounters.OUTSIDE];
        escaped += counters[RunCounters.ALIVE];
        if (counters[RunCounters.REACHED] > largest.reachedBytes()) {
            largest =
                    new Largest(
                            counters[RunCounters.FITTED],
                            bytes,
                            counters[RunCounters.MOST_BYTES],
                            counters[RunCounters.REACHED]);
        }
    }

    /** Returns the memory that the next prediction is expected to need. Needs no lock. */
    long expectedBytes() {
        return recent.bytes();
    }

    /** Returns the size of an arena that any of the predictions so far would fit in. */
    long reachedBytes() {
        return largest.reachedBytes();
    }

    /** Returns the plan for a report, from the prediction that reached furthest. */
    Plan plan() {
        return placed == 0
                ? Plan.NONE
                : new PlanReportRecord.Plan(
                        STRATEGY,
                        (int) Math.min(largest.allocations(), Integer.MAX_VALUE),
                        0,
                        largest.bytes(),
                        largest.mostBytes(),
                        largest.reachedBytes(),
                        largest.reachedBytes() == largest.mostBytes(),
                        0);
    }

    /** Returns the counts for a report; no prediction has a plan made in advance. */
    PlanReportRecord.Predictions predictions() {
        return new PlanReportRecord.Predictions(
                predictions, predictions, placed, outside, 0, escaped, 0);
    }
}
