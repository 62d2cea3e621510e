package org.djlplan.memplan.plan.greedy;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * Offset calculation in rounds (Pisarchyk and Lee 2020, section 7), for tensors whose sizes become
 * known only while the model runs: plan what is known, run up to the operator that resolves the
 * next sizes, plan those around what is placed. In each round the newly known units are placed by
 * size, largest first, ties by tensor id, into the smallest gap between what is placed already, and
 * nothing that was placed moves: a place that was handed out stays valid. The arena may grow. When
 * everything is known in the first round, the plan is that of Greedy by Size.
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

    /**
     * The tensors whose sizes become known at one operator.
     *
     * @param operator the operator that resolves the sizes as it runs, so that its own outputs may
     *     be among them; 0 for what is known before the model runs
     * @param known the newly known records, none of which is used before {@code operator}, and
     *     which of them share places; no conflicts beside overlapping intervals, because rounds
     *     need operators that run in order
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

    /**
     * Returns the strategy that plans as if sizes became known while the model runs, so that what
     * not knowing costs can be compared with other strategies. It admits problems without alias
     * classes.
     *
     * @param knownAt by tensor id, the operator that resolves the tensor's size; a tensor that is
     *     missing is known before the model runs
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

    /** Units that have a place, by offset: what a new one is placed around. */
    private static final class PlacedUnits {

        private static final Comparator<Place> BY_OFFSET =
                Comparator.comparingLong(Place::startBytes);

        /** A unit and the bytes it occupies, half-open. */
        private record Place(UsageRecord unit, long startBytes, long endBytes) {}

        private final List<Place> places = new ArrayList<>();

        /**
         * Adds a unit that is placed at an offset.
         *
         * @throws ArithmeticException if its end does not fit into a long
         */
        void add(UsageRecord unit, long offsetBytes) {
            Place place =
                    new Place(unit, offsetBytes, UsageRecords.addBytes(offsetBytes, unit.bytes()));
            int found = Collections.binarySearch(places, place, BY_OFFSET);
            places.add(found >= 0 ? found : -found - 1, place);
        }

        /**
         * Returns the offset in bytes of the smallest gap that a unit fits into between those it
         * overlaps, the lowest of equals; without one, the end of the last of them (Pisarchyk and
         * Lee 2020, Algorithm 3).
         */
        long smallestGap(UsageRecord unit) {
            long free = 0;
            long bestBytes = Long.MAX_VALUE;
            long best = 0;
            boolean found = false;
            for (Place place : places) {
                if (place.unit.overlaps(unit)) {
                    long gap = place.startBytes - free;
                    if (gap >= unit.bytes() && gap < bestBytes) {
                        bestBytes = gap;
                        best = free;
                        found = true;
                    }
                    free = Math.max(free, place.endBytes);
                }
            }
            return found ? best : free;
        }
    }
}
