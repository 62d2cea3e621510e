package org.djlplan.memplan.plan.portfolio;

import com.google.common.collect.ImmutableList;
import java.util.List;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.Violation;

/**
 * The plan of one problem by one strategy.
 *
 * @param plan the plan
 * @param nanos how long planning took
 * @param violations what the validator found; empty when the plan is valid
 * @param lowerBoundBytes what no plan of the problem that was solved can go below: its maximum
 *     breadth, or more where a search proved it. With alias classes it holds for these classes
 *     only, so a plan that reaches it may still be larger than one with others
 */
public record Attempt(
        OffsetPlan plan, long nanos, List<Violation> violations, long lowerBoundBytes) {

    public Attempt {
        violations = ImmutableList.copyOf(violations);
    }

    /** Returns the strategy's name, with {@code "+in-place"} when tensors share places. */
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

    /** Returns whether no plan of the problem that was solved is smaller. */
    public boolean provedMinimal() {
        return plan.totalBytes() == lowerBoundBytes;
    }
}
