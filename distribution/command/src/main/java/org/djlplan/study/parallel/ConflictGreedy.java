package org.djlplan.study.parallel;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.greedy.PlacedUnits;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A greedy strategy that tests every pair of units for a conflict instead of comparing intervals,
 * so it can also plan for engines that run independent branches at once. Units are placed in one of
 * three orders by one of two rules, and never moved again.
 *
 * <p>The orders and one placement rule are those of Apache TVM's unified static memory planner (<a
 * href="https://github.com/apache/tvm/blob/26fffb0fbfac1558bef905dee1817ba2e5eeabdf/src/tir/usmp/algo/greedy.cc">src/tir/usmp/algo/greedy.cc</a>)
 * with one pool. TVM breaks the last ties by name, last first; this class takes the lowest tensor
 * id. O(n²) for n units.
 */
public final class ConflictGreedy implements OffsetStrategy {

    /** Largest number of units that can be placed in a few seconds. */
    static final int LARGEST_PROBLEM = 16_384;

    /**
     * Greedy by Size (Pisarchyk and Lee 2020, section 5.2, Algorithm 3) with conflicts for
     * overlapping intervals.
     */
    public static final ConflictGreedy BY_SIZE =
            new ConflictGreedy("greedy-by-size-over-conflicts", Order.SIZE, Placement.SMALLEST_GAP);

    /** The order of TVM's {@code greedy_by_conflicts}, with the placement of Greedy by Size. */
    public static final ConflictGreedy BY_CONFLICTS =
            new ConflictGreedy("greedy-by-conflicts", Order.CONFLICTS, Placement.SMALLEST_GAP);

    /** TVM's {@code greedy_by_size} ({@code GreedySize}). */
    public static final ConflictGreedy TVM_BY_SIZE =
            new ConflictGreedy(
                    "tvm-greedy-by-size", Order.SIZE_THEN_CONFLICTS, Placement.BEHIND_LAST);

    /** TVM's {@code greedy_by_conflicts} ({@code GreedyConflicts}). */
    public static final ConflictGreedy TVM_BY_CONFLICTS =
            new ConflictGreedy("tvm-greedy-by-conflicts", Order.CONFLICTS, Placement.BEHIND_LAST);

    /** An order in which units are placed. The last ties are broken by tensor id. */
    private enum Order {
        /** Largest first. */
        SIZE,
        /** Largest first, ties by number of conflicts, most first. */
        SIZE_THEN_CONFLICTS,
        /** Most conflicts first, ties by size, largest first. */
        CONFLICTS;

        private static final Comparator<UsageRecord> LARGEST_FIRST =
                Comparator.comparingLong(UsageRecord::bytes).reversed();

        List<UsageRecord> units(PlanningProblem problem) {
            Comparator<UsageRecord> order =
                    switch (this) {
                        case SIZE -> LARGEST_FIRST;
                        case SIZE_THEN_CONFLICTS ->
                                LARGEST_FIRST.thenComparing(mostConflictsFirst(problem));
                        case CONFLICTS -> mostConflictsFirst(problem).thenComparing(LARGEST_FIRST);
                    };
            return ImmutableList.sortedCopyOf(
                    order.thenComparingInt(UsageRecord::tensor), problem.units());
        }

        private static Comparator<UsageRecord> mostConflictsFirst(PlanningProblem problem) {
            List<UsageRecord> units = problem.units();
            int[] counts = new int[units.size()];
            ImmutableMap.Builder<Integer, Integer> builder = ImmutableMap.builder();
            for (int i = 0; i < counts.length; i++) {
                for (int j = i + 1; j < counts.length; j++) {
                    if (problem.conflict(units.get(i), units.get(j))) {
                        counts[i]++;
                        counts[j]++;
                    }
                }
                builder.put(units.get(i).tensor(), counts[i]);
            }
            Map<Integer, Integer> byTensor = builder.buildOrThrow();
            return Comparator.comparingInt(unit -> -byTensor.get(unit.tensor()));
        }
    }

    /** A rule that places a unit, given the units placed before. */
    private enum Placement {
        /**
         * The smallest gap that fits between conflicting units, of equal gaps the lowest, otherwise
         * right after the last conflicting unit (Pisarchyk and Lee 2020, section 5.2).
         */
        SMALLEST_GAP,
        /** Right after the last conflicting unit, ignoring gaps before it (TVM). */
        BEHIND_LAST
    }

    private final String name;
    private final Order order;
    private final Placement placement;

    private ConflictGreedy(String name, Order order, Placement placement) {
        this.name = name;
        this.order = order;
        this.placement = placement;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int largestProblem() {
        return LARGEST_PROBLEM;
    }

    @Override
    public boolean admits(PlanningProblem problem) {
        return problem.units().size() <= LARGEST_PROBLEM;
    }

    /**
     * {@inheritDoc}
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        PlacedUnits placed = new PlacedUnits(problem::conflict);
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        for (UsageRecord unit : order.units(problem)) {
            long offset =
                    placement == Placement.SMALLEST_GAP
                            ? placed.smallestGap(unit)
                            : placed.behindLast(unit);
            placed.add(unit, offset);
            offsets.put(unit.tensor(), offset);
        }
        return new OffsetPlan(name, problem, offsets.buildOrThrow());
    }
}
