package org.djlplan.memplan.internal.runtime;

import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.report.PlanReport.Plan;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the results of one model's predictions, and keeps the figures of the prediction that
 * reached furthest in its arena. Thread-safe.
 */
public final class PredictionTally {

    private static final Logger logger = LoggerFactory.getLogger(PredictionTally.class);

    private static final Largest NONE = new Largest("", 0, 0, 0, 0);

    private final NeededMemory needed = new NeededMemory();
    private long outsideArenas;
    private long online;
    private long byPlan;
    private long unplannedAllocations;
    private long recorded;
    private long escaped;
    private Largest largest = NONE;

    /** The prediction that reached furthest in its arena. */
    private record Largest(
            String strategy, long allocations, long bytes, long mostBytes, long reachedBytes) {}

    /** Counts a prediction that had no arena. */
    public synchronized void outsideArenas() {
        outsideArenas++;
    }

    /**
     * Counts a prediction whose allocations got the lowest free places in an arena.
     *
     * @param sizes of its inputs
     * @param counters of its run, by {@link RunCounters}
     */
    public synchronized void online(InputSizes sizes, long[] counters) {
        online++;
        note(PlanReport.Plan.ONLINE, sizes, counters);
    }

    /**
     * Counts a prediction whose allocations got planned places in an arena.
     *
     * @param strategy of the plan
     * @param sizes of its inputs
     * @param counters of its run, by {@link RunCounters}
     */
    public synchronized void planned(String strategy, InputSizes sizes, long[] counters) {
        byPlan++;
        note(strategy, sizes, counters);
    }

    private void note(String strategy, InputSizes sizes, long[] counters) {
        unplannedAllocations += counters[RunCounters.OUTSIDE];
        escaped += counters[RunCounters.ALIVE];
        needed.note(sizes, counters[RunCounters.MOST_BYTES]);
        if (logger.isTraceEnabled()) {
            logger.trace(
                    "A prediction by {} reached {} bytes of an arena for {} in use",
                    strategy,
                    counters[RunCounters.REACHED],
                    counters[RunCounters.MOST_BYTES]);
        }
        if (counters[RunCounters.REACHED] > largest.reachedBytes()) {
            largest =
                    new Largest(
                            strategy,
                            counters[RunCounters.PLACED],
                            counters[RunCounters.BYTES],
                            counters[RunCounters.MOST_BYTES],
                            counters[RunCounters.REACHED]);
        }
    }

    /** Counts a prediction in an arena whose size says nothing about later predictions. */
    public synchronized void oneOff() {
        online++;
    }

    /** Counts a prediction that was recorded. */
    public synchronized void recorded() {
        recorded++;
    }

    /** Forgets the largest prediction, because from now on there is a plan for such predictions. */
    public synchronized void replan() {
        largest = NONE;
    }

    /** Returns the memory that predictions needed. */
    public NeededMemory needed() {
        return needed;
    }

    /** Returns the size of an arena that any of the predictions so far would fit in. */
    public synchronized long reachedBytes() {
        return largest.reachedBytes();
    }

    /** Returns the plan for a report: that of the prediction that reached furthest. */
    public synchronized Plan plan() {
        return largest.strategy().isEmpty()
                ? Plan.NONE
                : new PlanReport.Plan(
                        largest.strategy(),
                        (int) Math.min(largest.allocations(), Integer.MAX_VALUE),
                        0,
                        largest.bytes(),
                        largest.mostBytes(),
                        largest.reachedBytes(),
                        largest.reachedBytes() == largest.mostBytes(),
                        0);
    }

    /** Returns the counts for a report. */
    public synchronized PlanReport.Predictions predictions() {
        return new PlanReport.Predictions(
                outsideArenas + online + byPlan,
                outsideArenas,
                online,
                unplannedAllocations,
                recorded,
                escaped);
    }
}
