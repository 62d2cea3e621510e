package org.djlplan.study.greedy;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.greedy.PlacedUnits;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Offset calculation in rounds (Pisarchyk and Lee 2020, section 7), for tensors whose sizes become
 * known only while the model runs: plan the known tensors, run up to the operator that resolves the
 * next sizes, then plan the tensors of these sizes around the placed ones. In each round the newly
 * known units are placed by size, largest first, ties by tensor id, into the smallest gap between
 * placed units. Placed units never move, so their offsets stay valid. The arena may grow. If
 * everything is known in the first round, the plan is that of Greedy by Size.
 *
 * <pre>
 *   OffsetPlan plan = Rounds.first(knownAtLoad);
 *   // run up to and including the operator that resolves sizes, then
 *   plan = Rounds.next(plan, new Round(operator, newlyKnown));
 * </pre>
 *
 * <p>O(m·n) for a round of m units if n units in total are alive from its operator on.
 */
public final class Rounds {

    /**
     * The tensors whose sizes become known at one operator.
     *
     * @param operator that resolves the sizes when it runs, so its own outputs may be among them; 0
     *     for sizes known before the model runs
     * @param known the newly known records, none of which is used before {@code operator}, with
     *     their alias classes; without conflicts besides overlapping intervals, because rounds need
     *     operators that run in order
     */
    public record Round(int operator, PlanningProblem known) {

        public Round {
            checkArgument(operator >= 0, "negative operator: %s", operator);
            checkArgument(known.conflicts().isEmpty(), "rounds need operators that run in order");
            for (UsageRecord record : known.records()) {
                checkArgument(
                        record.first() >= operator,
                        "tensor %s is used at %s, but its size is known only at %s",
                        record.tensor(),
                        record.first(),
                        operator);
            }
        }
    }

    /** Name of the strategy in the plans. */
    public static final String NAME = "rounds";

    private Rounds() {}

    /**
     * Returns a valid plan of the tensors known before the model runs.
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
     * Returns a valid plan of all tensors of {@code placed} and of the newly known ones; the
     * offsets of {@code placed} do not change. The arena after the round is {@link
     * OffsetPlan#totalBytes}.
     *
     * @param placed a valid plan
     * @throws IllegalArgumentException if a tensor is already placed, or {@code placed} has
     *     conflicts besides overlapping intervals
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
        for (UsageRecord unit :
                ImmutableList.sortedCopyOf(UnitOrders::bySize, round.known().units())) {
            long offset = around.smallestGap(unit);
            around.add(unit, offset);
            offsets.put(unit.tensor(), offset);
        }
        return new OffsetPlan(NAME, problem, offsets.buildOrThrow());
    }

    /**
     * Returns the plan after every round; the last plan contains everything.
     *
     * @param rounds by operator
     * @throws IllegalArgumentException if they are not ordered by operator, or a tensor becomes
     *     known twice
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

    /**
     * Returns a strategy that plans as if sizes became known while the model runs, so that the cost
     * of unknown sizes can be compared with other strategies. It supports problems without alias
     * classes.
     *
     * @param knownAt by tensor id, the operator that resolves the tensor's size; other tensors are
     *     known before the model runs
     */
    public static OffsetStrategy strategy(Map<Integer, Integer> knownAt) {
        return new InRounds(ImmutableMap.copyOf(knownAt));
    }

    private record InRounds(ImmutableMap<Integer, Integer> knownAt) implements OffsetStrategy {

        @Override
        public String name() {
            return NAME;
        }

        @Override
        public int largestProblem() {
            return 50_000;
        }

        @Override
        public boolean admits(PlanningProblem problem) {
            return OffsetStrategy.super.admits(problem) && problem.aliasClasses().isEmpty();
        }

        /**
         * {@inheritDoc}
         *
         * @throws IllegalArgumentException if a tensor is used before its size is known
         * @throws ArithmeticException if the arena does not fit into a long
         */
        @Override
        public OffsetPlan plan(PlanningProblem problem) {
            NavigableMap<Integer, List<UsageRecord>> byRound = new TreeMap<>();
            for (UsageRecord record : problem.records()) {
                int operator = knownAt.getOrDefault(record.tensor(), 0);
                byRound.computeIfAbsent(operator, any -> new ArrayList<>()).add(record);
            }
            OffsetPlan plan = first(new PlanningProblem(List.of()));
            for (Map.Entry<Integer, List<UsageRecord>> round : byRound.entrySet()) {
                plan = next(plan, new Round(round.getKey(), new PlanningProblem(round.getValue())));
            }
            return new OffsetPlan(NAME, problem, plan.unitOffsets());
        }
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
