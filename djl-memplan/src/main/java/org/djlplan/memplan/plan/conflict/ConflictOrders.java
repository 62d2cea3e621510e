package org.djlplan.memplan.plan.conflict;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;

/** In which order units are placed; counting conflicts compares every two of n units: O(n²). */
final class ConflictOrders {

    private static final Comparator<UsageRecord> BY_SIZE =
            Comparator.comparingLong(UsageRecord::bytes).reversed();

    private ConflictOrders() {}

    /** Returns the units by size, largest first, then by tensor id. */
    static List<UsageRecord> bySize(PlanningProblem problem) {
        return ImmutableList.sortedCopyOf(
                BY_SIZE.thenComparingInt(UsageRecord::tensor), problem.units());
    }

    /** Returns the units by size, largest first, then by conflicts, then by tensor id. */
    static List<UsageRecord> bySizeAndConflicts(PlanningProblem problem) {
        return ImmutableList.sortedCopyOf(
                BY_SIZE.thenComparing(byConflictCount(problem))
                        .thenComparingInt(UsageRecord::tensor),
                problem.units());
    }

    /** Returns the units by number of conflicts, most first, then by size, then by tensor id. */
    static List<UsageRecord> byConflicts(PlanningProblem problem) {
        return ImmutableList.sortedCopyOf(
                byConflictCount(problem)
                        .thenComparing(BY_SIZE)
                        .thenComparingInt(UsageRecord::tensor),
                problem.units());
    }

    /** Units with the most conflicts first. */
    private static Comparator<UsageRecord> byConflictCount(PlanningProblem problem) {
        List<UsageRecord> units = problem.units();
        int[] counts = new int[units.size()];
        ImmutableMap.Builder<Integer, Integer> byTensor = ImmutableMap.builder();
        for (int i = 0; i < counts.length; i++) {
            for (int j = i + 1; j < counts.length; j++) {
                if (problem.conflict(units.get(i), units.get(j))) {
                    counts[i]++;
                    counts[j]++;
                }
            }
            byTensor.put(units.get(i).tensor(), counts[i]);
        }
        Map<Integer, Integer> found = byTensor.buildOrThrow();
        return Comparator.comparingInt(unit -> -found.get(unit.tensor()));
    }
}
