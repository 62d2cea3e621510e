package org.djlplan.study.parallel;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongBiFunction;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlacedUnits;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Greedy strategies that test every pair of units for a conflict instead of comparing intervals, so
 * they can also plan for engines that run independent branches at once. Units are placed in one of
 * three orders and never moved again: into the smallest gap between conflicting units, or right
 * after the last conflicting unit (TVM).
 *
 * <p>The orders and one placement rule are those of Apache TVM's unified static memory planner (<a
 * href="https://github.com/apache/tvm/blob/26fffb0fbfac1558bef905dee1817ba2e5eeabdf/src/tir/usmp/algo/greedy.cc">src/tir/usmp/algo/greedy.cc</a>)
 * with one pool. TVM breaks the last ties by name, last first; this class takes the lowest tensor
 * id. O(n²) for n units.
 */
final class ConflictGreedy {

    /** Largest number of units that can be placed in a few seconds. */
    static final int LARGEST_PROBLEM = 16_384;

    /**
     * Greedy by Size (Pisarchyk and Lee 2020, section 5.2, Algorithm 3) with conflicts for
     * overlapping intervals.
     */
    static final OffsetStrategy BY_SIZE =
            strategy(
                    "greedy-by-size-over-conflicts",
                    problem -> UnitOrders::bySize,
                    PlacedUnits::smallestGap);

    /** The order of TVM's {@code greedy_by_conflicts}, with the placement of Greedy by Size. */
    static final OffsetStrategy BY_CONFLICTS =
            strategy(
                    "greedy-by-conflicts",
                    ConflictGreedy::conflictsThenSize,
                    PlacedUnits::smallestGap);

    /** TVM's {@code greedy_by_size} ({@code GreedySize}): ties by number of conflicts. */
    static final OffsetStrategy TVM_BY_SIZE =
            strategy(
                    "tvm-greedy-by-size",
                    ConflictGreedy::sizeThenConflicts,
                    PlacedUnits::behindLast);

    /** TVM's {@code greedy_by_conflicts} ({@code GreedyConflicts}). */
    static final OffsetStrategy TVM_BY_CONFLICTS =
            strategy(
                    "tvm-greedy-by-conflicts",
                    ConflictGreedy::conflictsThenSize,
                    PlacedUnits::behindLast);

    private ConflictGreedy() {}

    private static OffsetStrategy strategy(
            String name,
            Function<PlanningProblem, Comparator<UsageRecord>> order,
            ToLongBiFunction<PlacedUnits, UsageRecord> rule) {
        return new OffsetStrategy(
                name,
                LARGEST_PROBLEM,
                true,
                problem ->
                        new PlacedUnits(problem::conflict)
                                .inOrder(
                                        ImmutableList.sortedCopyOf(
                                                order.apply(problem), problem.units()),
                                        rule));
    }

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
}
