package org.djlplan.memplan.internal.plan;

import java.util.List;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecords;

/**
 * A valid plan with its figures.
 *
 * @param plan the places of the tensors
 * @param strategy name of the strategy, with {@code "+in-place"} if tensors share places
 * @param naiveBytes total size of all planned tensors, without shared memory
 * @param lowerBoundBytes maximum operator breadth without aliases
 * @param aliasedTensors number of tensors that share another's place
 * @param provedMinimal whether the plan is at the lower bound: none is smaller, except by sharing
 *     that saves too little
 */
public record EvaluatedPlan(
        OffsetPlan plan,
        String strategy,
        long naiveBytes,
        long lowerBoundBytes,
        int aliasedTensors,
        boolean provedMinimal) {

    /** Evaluates a validated plan: it is proved minimal if it is at the lower bound. */
    public static EvaluatedPlan of(OffsetPlan plan) {
        return of(plan, plan.totalBytes() == LowerBounds.offsetBytes(plan.problem().units()));
    }

    /** Returns the figures of a validated plan. */
    public static EvaluatedPlan of(OffsetPlan plan, boolean provedMinimal) {
        return new EvaluatedPlan(
                plan,
                Attempt.name(plan),
                UsageRecords.naiveBytes(plan.problem().records()),
                LowerBounds.offsetBytes(plan.problem().records()),
                aliasedTensors(plan.problem()),
                provedMinimal);
    }

    private static int aliasedTensors(PlanningProblem problem) {
        int shared = 0;
        for (List<Integer> aliases : problem.aliasClasses()) {
            shared += aliases.size() - 1;
        }
        return shared;
    }

    /** Returns the size in bytes of the arena. */
    public long arenaBytes() {
        return plan.totalBytes();
    }
}
