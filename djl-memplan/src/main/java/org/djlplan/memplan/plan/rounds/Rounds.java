package org.djlplan.memplan.plan.rounds;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.util.Comparator;
import java.util.List;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;

/**
 * Offset calculation in rounds (Pisarchyk and Lee 2020, section 7). In each round the newly known
 * units are placed by size, largest first, ties by tensor id, into the smallest gap between what is
 * placed already, and nothing that was placed moves: a place that was handed out stays valid. The
 * arena may grow. When everything is known in the first round, the plan is that of Greedy by Size.
 *
 * <pre>
 *   OffsetPlan plan = Rounds.first(knownAtLoad);
 *   // run up to the operator that resolves sizes, it included, then
 *   plan = Rounds.next(plan, new Round(operator, newlyKnown));
 * </pre>
 *
 * <p>O(m·n) for a round of m units when n in all are alive from its operator on or later.
 */
public final class Rounds {

    /** Name of the strategy in the plans. */
    public static final String NAME = "rounds";

    private static final Comparator<UsageRecord> BY_SIZE =
            Comparator.comparingLong(UsageRecord::bytes)
                    .reversed()
                    .thenComparingInt(UsageRecord::tensor);

    private Rounds() {}

    /**
     * Returns a valid plan of what is known before the model runs.
     *
     * @throws IllegalArgumentException if {@code known} has conflicts beside overlapping intervals
     * @throws ArithmeticException if the arena does not fit into a long
     */
    public static OffsetPlan first(PlanningProblem known) {
        OffsetPlan nothing =
                new OffsetPlan(NAME, new PlanningProblem(List.of()), ImmutableMap.of());
        return next(nothing, new Round(0, known));
    }

    /**
     * Returns a valid plan of all that {@code placed} plans and of what is newly known; no offset
     * of {@code placed} is changed. The arena after the round is {@link OffsetPlan#totalBytes}.
     *
     * @param placed a valid plan
     * @throws IllegalArgumentException if a tensor has a place already, or {@code placed} is of a
     *     problem with conflicts beside overlapping intervals
     * @throws ArithmeticException if the arena does not fit into a long
     */
    public static OffsetPlan next(OffsetPlan placed, Round round) {
        checkArgument(
                placed.problem().conflicts().isEmpty(), "rounds need operators that run in order");
        PlanningProblem problem = union(placed.problem(), round.known());
        PlacedUnits around = new PlacedUnits();
        for (UsageRecord unit : placed.problem().units()) {
            if (unit.last() >= round.operator()) {
                around.add(unit, placed.offsetOf(unit.tensor()));
            }
        }
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        offsets.putAll(placed.unitOffsets());
        for (UsageRecord unit : ImmutableList.sortedCopyOf(BY_SIZE, round.known().units())) {
            long offset = around.smallestGap(unit);
            around.add(unit, offset);
            offsets.put(unit.tensor(), offset);
        }
        return new OffsetPlan(NAME, problem, offsets.buildOrThrow());
    }

    /**
     * Returns the plan after every round, so that the last is of everything.
     *
     * @param rounds by operator
     * @throws IllegalArgumentException if they are not, or if a tensor becomes known twice
     * @throws ArithmeticException if the arena does not fit into a long
     */
    public static ImmutableList<OffsetPlan> plan(List<Round> rounds) {
        ImmutableList.Builder<OffsetPlan> plans = ImmutableList.builder();
        OffsetPlan plan = first(new PlanningProblem(List.of()));
        int operator = 0;
        for (Round round : rounds) {
            checkArgument(
                    round.operator() >= operator,
                    "a round at %s after one at %s",
                    round.operator(),
                    operator);
            operator = round.operator();
            plan = next(plan, round);
            plans.add(plan);
        }
        return plans.build();
    }

    private static PlanningProblem union(PlanningProblem placed, PlanningProblem known) {
        return new PlanningProblem(
                ImmutableList.<UsageRecord>builder()
                        .addAll(placed.records())
                        .addAll(known.records())
                        .build(),
                ImmutableList.<ImmutableList<Integer>>builder()
                        .addAll(placed.aliasClasses())
                        .addAll(known.aliasClasses())
                        .build());
    }
}
