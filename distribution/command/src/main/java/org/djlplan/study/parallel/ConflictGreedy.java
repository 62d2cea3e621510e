package org.djlplan.study.parallel;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.greedy.PlacedUnits;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
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
 *
 * @param order of the units of a problem
 * @param fillsGaps whether a unit gets the smallest gap that fits between conflicting units, of
 *     equal gaps the lowest (Pisarchyk and Lee 2020, section 5.2); otherwise, or if none fits, it
 *     lies right after the last conflicting unit (TVM)
 */
record ConflictGreedy(
        String name, Function<PlanningProblem, Comparator<UsageRecord>> order, boolean fillsGaps)
        implements OffsetStrategy {

    /** Largest number of units that can be placed in a few seconds. */
    static final int LARGEST_PROBLEM = 16_384;

    /**
     * Greedy by Size (Pisarchyk and Lee 2020, section 5.2, Algorithm 3) with conflicts for
     * overlapping intervals.
     */
    static final ConflictGreedy BY_SIZE =
            new ConflictGreedy(
                    "greedy-by-size-over-conflicts", problem -> UnitOrders::bySize, true);

    /** The order of TVM's {@code greedy_by_conflicts}, with the placement of Greedy by Size. */
    static final ConflictGreedy BY_CONFLICTS =
            new ConflictGreedy("greedy-by-conflicts", ConflictGreedy::conflictsThenSize, true);

    /** TVM's {@code greedy_by_size} ({@code GreedySize}): ties by number of conflicts. */
    static final ConflictGreedy TVM_BY_SIZE =
            new ConflictGreedy("tvm-greedy-by-size", ConflictGreedy::sizeThenConflicts, false);

    /** TVM's {@code greedy_by_conflicts} ({@code GreedyConflicts}). */
    static final ConflictGreedy TVM_BY_CONFLICTS =
            new ConflictGreedy("tvm-greedy-by-conflicts", ConflictGreedy::conflictsThenSize, false);

    private static Comparator<UsageRecord> conflictsThenSize(PlanningProblem problem) {
        return mostConflictsFirst(problem).thenComparing(UnitOrders::bySize);
    }

    private static Comparator<UsageRecord> sizeThenConflicts(PlanningProblem problem) {
        return Comparator.comparingLong((UsageRecord unit) -> -unit.bytes())
                .thenComparing(mostConflictsFirst(problem))
                .thenComparing(UnitOrders::byTensor);
    }

    private static Comparator<UsageRecord> mostConflictsFirst(PlanningProblem problem) {
        List<UsageRecord> units = problem.units();
        Map<Integer, Integer> counts = new HashMap<>();
        for (int i = 0; i < units.size(); i++) {
            for (UsageRecord other : units.subList(i + 1, units.size())) {
                if (problem.conflict(units.get(i), other)) {
                    counts.merge(units.get(i).tensor(), 1, Integer::sum);
                    counts.merge(other.tensor(), 1, Integer::sum);
                }
            }
        }
        return Comparator.comparingInt(unit -> -counts.getOrDefault(unit.tensor(), 0));
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
        for (UsageRecord unit : ImmutableList.sortedCopyOf(order.apply(problem), problem.units())) {
            long offset = fillsGaps ? placed.smallestGap(unit) : placed.behindLast(unit);
            placed.add(unit, offset);
            offsets.put(unit.tensor(), offset);
        }
        return new OffsetPlan(name, problem, offsets.buildOrThrow());
    }
}
