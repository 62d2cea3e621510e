package org.djlplan.study.strippacking;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.PriorityQueue;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Buffer allocation as path cover (LeapMind 2021): units, in order of their first operator, go into
 * any group whose units they do not overlap, otherwise into a new one, so that the number of groups
 * equals the largest number of overlapping units; then the groups are stacked on the skyline one
 * after another. The arena is never larger than twice the product of the largest overlap and the
 * largest size.
 *
 * <p>The rule defines neither which group a unit goes into nor the order in which groups are
 * stacked. By default a unit goes into the oldest group, and groups are stacked in the order of
 * their creation. Two variants, alone or together, are used instead if the arena is then smaller: a
 * unit goes into the group whose last unit is nearest in size; groups are stacked by their largest
 * unit, largest first.
 *
 * <p>O(n log n) for n units. Problems of more than 100,000 units are left to other strategies: with
 * many groups, gaps below the skyline add up.
 */
public final class PathCover implements OffsetStrategy {

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
        List<UsageRecord> units = ImmutableList.sortedCopyOf(UnitOrders::byFirst, problem.units());
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

    /**
     * Groups of units that do not overlap, as few as possible: O(n log n) for n units.
     *
     * <p>A new group is opened only if all existing groups contain a live unit, so the number of
     * groups equals the largest number of overlapping units, for any choice of free groups.
     */
    static final class Groups {

        /**
         * A group and the size of its last unit, or a constant if groups are not chosen by size.
         */
        private record Free(long size, int group) {}

        /** A group that becomes free after the last operator of its last unit. */
        private record Busy(int last, Free then) {}

        private final NavigableSet<Free> free =
                new TreeSet<>(Comparator.comparingLong(Free::size).thenComparingInt(Free::group));
        private final PriorityQueue<Busy> busy =
                new PriorityQueue<>(Comparator.comparingInt(Busy::last));
        private final List<List<UsageRecord>> groups = new ArrayList<>();

        private Groups() {}

        /**
         * Returns the groups in the order of their creation, each in order of time. A unit goes
         * into the free group whose last unit is nearest in size, on a tie the oldest group.
         *
         * @param units by first operator
         * @param size effective size of a unit; constant if it does not matter
         */
        static List<List<UsageRecord>> of(
                List<UsageRecord> units, ToLongFunction<UsageRecord> size) {
            Groups making = new Groups();
            for (UsageRecord unit : units) {
                making.add(unit, size.applyAsLong(unit));
            }
            return making.groups;
        }

        private void add(UsageRecord unit, long size) {
            while (!busy.isEmpty() && busy.peek().last < unit.first()) {
                free.add(busy.remove().then);
            }
            if (free.isEmpty()) {
                free.add(new Free(size, groups.size()));
                groups.add(new ArrayList<>());
            }
            Free taken = nearest(size);
            free.remove(taken);
            groups.get(taken.group).add(unit);
            busy.add(new Busy(unit.last(), new Free(size, taken.group)));
        }

        private Free nearest(long size) {
            Free larger = free.ceiling(new Free(size, 0));
            Free smaller = free.lower(new Free(size, 0));
            if (smaller == null) {
                return larger;
            }
            if (larger != null && larger.size - size <= size - smaller.size) {
                return larger;
            }
            return free.ceiling(new Free(smaller.size, 0));
        }
    }
}
