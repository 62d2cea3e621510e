package org.djlplan.memplan.plan.strip;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;

/**
 * Buffer allocation as path cover (LeapMind 2021): units, in order of their first operator, go into
 * any group whose units they do not overlap, or else into a new one, so that there are only as many
 * groups as units overlap at most; then group by group is stacked on the skyline. Never above twice
 * the product of the largest overlap and the largest size.
 *
 * <p>The rule leaves open which of several groups to take and in which order to stack them. The
 * plain reading comes first: the group made first, and groups as they were made. It is given up
 * only for a smaller arena, with the group whose last unit is nearest in size, with groups by their
 * largest unit, largest first, or with both.
 *
 * <p>O(n log n) for n units. More than 100,000 are left to strategies made for them: with many
 * groups, gaps below the skyline add up.
 */
public final class PathCover implements OffsetStrategy {

    private static final Comparator<UsageRecord> BY_FIRST =
            Comparator.comparingInt(UsageRecord::first).thenComparingInt(UsageRecord::tensor);

    /** Units that do not overlap, in order of time. */
    private record Group(List<UsageRecord> units, long largestBytes) {

        static Group of(List<UsageRecord> units) {
            return new Group(
                    units, units.stream().mapToLong(UsageRecord::bytes).max().orElseThrow());
        }
    }

    private record Stacked(Map<Integer, Long> offsets, long totalBytes) {}

    @Override
    public String name() {
        return "path-cover";
    }

    @Override
    public int largestProblem() {
        return 100_000;
    }

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        List<UsageRecord> units = ImmutableList.sortedCopyOf(BY_FIRST, problem.units());
        List<ToLongFunction<UsageRecord>> choices = ImmutableList.of(unit -> 0, UsageRecord::bytes);
        Map<Integer, Long> best = Map.of();
        long bestBytes = Long.MAX_VALUE;
        for (ToLongFunction<UsageRecord> size : choices) {
            List<Group> asMade = Groups.of(units, size).stream().map(Group::of).toList();
            List<Group> byLargest =
                    ImmutableList.sortedCopyOf(
                            Comparator.comparingLong(Group::largestBytes).reversed(), asMade);
            for (List<Group> groups : List.of(asMade, byLargest)) {
                Stacked stacked = stack(units, groups);
                if (stacked.totalBytes < bestBytes) {
                    best = stacked.offsets;
                    bestBytes = stacked.totalBytes;
                }
            }
        }
        return new OffsetPlan(name(), problem, best);
    }

    private static Stacked stack(List<UsageRecord> units, List<Group> groups) {
        Skyline skyline = new Skyline(units);
        ImmutableMap.Builder<Integer, Long> offsets =
                ImmutableMap.builderWithExpectedSize(units.size());
        for (Group group : groups) {
            for (UsageRecord unit : group.units) {
                offsets.put(unit.tensor(), skyline.stack(unit));
            }
        }
        return new Stacked(offsets.buildOrThrow(), skyline.highestBytes());
    }
}
