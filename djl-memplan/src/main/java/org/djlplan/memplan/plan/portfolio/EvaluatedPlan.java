package org.djlplan.memplan.plan.portfolio;

import java.util.List;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.usage.LowerBounds;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * A valid plan, and how it compares.
 *
 * @param plan where every tensor lies
 * @param strategy name of the strategy that made it, with {@code "+in-place"} when tensors share
 *     places
 * @param naiveBytes size of all planned tensors, each with memory of its own
 * @param lowerBoundBytes maximum operator breadth without aliases
 * @param aliasedTensors how many tensors share another's place
 * @param provedMinimal whether it is known that no plan with as many tensors in shared places as
 *     pay is smaller: it is at the lower bound
 */
public record EvaluatedPlan(
        OffsetPlan plan,
        String strategy,
        long naiveBytes,
        long lowerBoundBytes,
        int aliasedTensors,
        boolean provedMinimal) {

    /** Returns the figures of a plan that was found valid; minimal if it is at the lower bound. */
    public static EvaluatedPlan of(OffsetPlan plan) {
        return of(plan, plan.totalBytes() == LowerBounds.offsetBytes(plan.problem().units()));
    }

    /** Returns the figures of a plan that was found valid. */
    public static EvaluatedPlan of(OffsetPlan plan, boolean provedMinimal) {
        return new EvaluatedPlan(
                plan,
                Attempt.name(plan),
                UsageRecords.naiveBytes(plan.problem().records()),
                LowerBounds.offsetBytes(plan.problem().records()),
                plan.problem().aliasClasses().stream().mapToInt(List::size).sum()
                        - plan.problem().aliasClasses().size(),
                provedMinimal);
    }

    /** Returns the size in bytes of the arena. */
    public long arenaBytes() {
        return plan.totalBytes();
    }
}
