package org.djlplan.memplan.internal.plan;

import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The plan of one problem by one strategy.
 *
 * @param plan the plan
 * @param nanos duration of planning
 * @param violations found by the validator; empty if the plan is valid
 * @param lowerBoundBytes lower bound of the solved problem: its maximum breadth, or a larger bound
 *     that a search proved. It holds only for the problem's alias classes: with other classes, a
 *     plan may be smaller
 */
public record Attempt(
        OffsetPlan plan, long nanos, List<Violation> violations, long lowerBoundBytes) {

    public Attempt {
        violations = ImmutableList.copyOf(violations);
    }

    /** Returns the strategy's name, with {@code "+in-place"} if tensors share places. */
    public String name() {
        return name(plan);
    }

    static String name(OffsetPlan plan) {
        return plan.strategy() + (plan.problem().aliasClasses().isEmpty() ? "" : "+in-place");
    }

    /** Returns whether the plan may be used. */
    public boolean valid() {
        return violations.isEmpty();
    }

    /** Returns whether no plan of the solved problem is smaller. */
    public boolean provedMinimal() {
        return plan.totalBytes() == lowerBoundBytes;
    }
}
