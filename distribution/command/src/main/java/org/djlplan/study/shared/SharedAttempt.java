package org.djlplan.study.shared;

import java.util.List;
import org.djlplan.memplan.internal.plan.Violation;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The plan of one problem by one shared-objects strategy.
 *
 * @param plan the plan
 * @param nanos duration of planning
 * @param violations found by the validator; empty if the plan is valid
 * @param lowerBoundBytes no plan of the solved problem is smaller: the sum of positional maxima, or
 *     a larger bound that a search proved. It holds only for the problem's alias classes
 */
public record SharedAttempt(
        SharedObjectsPlan plan, long nanos, List<Violation> violations, long lowerBoundBytes) {

    public SharedAttempt {
        violations = ImmutableList.copyOf(violations);
    }

    /** Returns the strategy's name, with {@code "+in-place"} if tensors share places. */
    public String name() {
        return plan.strategy() + (plan.problem().aliasClasses().isEmpty() ? "" : "+in-place");
    }

    /** Returns whether the plan may be used. */
    public boolean valid() {
        return violations.isEmpty();
    }

    /** Returns whether no plan of the solved problem is smaller. */
    public boolean provedMinimal() {
        return valid() && plan.totalBytes() == lowerBoundBytes;
    }

    SharedAttempt withLowerBound(long bytes) {
        return new SharedAttempt(plan, nanos, violations, bytes);
    }
}
