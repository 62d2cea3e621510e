package org.djlplan.memplan.plan.portfolio;

import java.util.List;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.usage.LowerBounds;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * A valid plan and how it compares.
 *
 * @param plan where every tensor lies
 * @param strategy name of the strategy that made it, with {@code "+in-place"} when tensors share
 *     places
 * @param naiveBytes size of all planned tensors, each with memory of its own
 * @param lowerBoundBytes maximum operator breadth without aliases
 * @param aliasedTensors how many tensors share another's place
 */
public record PlannedMemory(
        OffsetPlan plan,
        String strategy,
        long naiveBytes,
        long lowerBoundBytes,
        int aliasedTensors) {

    /** Returns the figures of a plan that was found valid. */
    public static PlannedMemory of(OffsetPlan plan) {
        return of(plan, plan.strategy());
    }

    static PlannedMemory of(Attempt attempt) {
        return of(attempt.plan(), attempt.name());
    }

    private static PlannedMemory of(OffsetPlan plan, String strategy) {
        return new PlannedMemory(
                plan,
                strategy,
                UsageRecords.naiveBytes(plan.problem().records()),
                LowerBounds.offsetBytes(plan.problem().records()),
                plan.problem().aliasClasses().stream().mapToInt(List::size).sum()
                        - plan.problem().aliasClasses().size());
    }
}
