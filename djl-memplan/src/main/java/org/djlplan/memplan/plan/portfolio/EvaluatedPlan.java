package org.djlplan.memplan.plan.portfolio;

import java.util.List;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.usage.LowerBounds;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * A valid plan, how it compares, and how far it was searched for a smaller one.
 *
 * @param plan where every tensor lies
 * @param strategy name of the strategy that made it, with {@code "+in-place"} when tensors share
 *     places
 * @param naiveBytes size of all planned tensors, each with memory of its own
 * @param lowerBoundBytes maximum operator breadth without aliases
 * @param aliasedTensors how many tensors share another's place
 * @param provedMinimal whether it is known that no plan with as many tensors in shared places as
 *     pay is smaller: it is at the lower bound, or a complete search found none
 * @param searchedMillis for how long a search for a smaller plan might have taken; 0 if there was
 *     none
 */
public record EvaluatedPlan(
        OffsetPlan plan,
        String strategy,
        long naiveBytes,
        long lowerBoundBytes,
        int aliasedTensors,
        boolean provedMinimal,
        long searchedMillis) {

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
                provedMinimal,
                0);
    }

    /** Returns the same plan after a search. */
    public EvaluatedPlan searchedFor(long millis) {
        return new EvaluatedPlan(
                plan, strategy, naiveBytes, lowerBoundBytes, aliasedTensors, provedMinimal, millis);
    }

    /** Returns the size in bytes of the arena. */
    public long arenaBytes() {
        return plan.totalBytes();
    }
}
