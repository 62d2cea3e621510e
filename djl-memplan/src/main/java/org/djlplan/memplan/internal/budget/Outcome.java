package org.djlplan.memplan.internal.budget;

import org.djlplan.memplan.internal.budget.StreamingPlan.Load;
import org.djlplan.thirdparty.guava.collect.ComparisonChain;

/**
 * The quality of a plan: the predicted time of an inference; on a tie, the time if loads take twice
 * as long as predicted, because slack is valuable; then the number of loaded bytes.
 *
 * @param nanos predicted time of an inference
 * @param slowNanos the same if loads take twice the time
 * @param loadedBytes bytes that each inference loads
 */
record Outcome(long nanos, long slowNanos, long loadedBytes) implements Comparable<Outcome> {

    /** Worse than any plan. */
    static final Outcome WORST = new Outcome(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

    /** Returns the outcome of a valid plan. */
    static Outcome of(StreamingPlan plan) {
        int[] after = new int[plan.problem().weights().size()];
        plan.loads().forEach(load -> after[load.use()] = load.after());
        int[] order = plan.loads().stream().filter(l -> !l.pinned()).mapToInt(Load::use).toArray();
        return new Foresight(plan.problem()).outcome(order, after);
    }

    /** Returns whether this one is better than another. */
    boolean betterThan(Outcome other) {
        return compareTo(other) < 0;
    }

    @Override
    public int compareTo(Outcome other) {
        return ComparisonChain.start()
                .compare(nanos, other.nanos)
                .compare(slowNanos, other.slowNanos)
                .compare(loadedBytes, other.loadedBytes)
                .result();
    }
}
