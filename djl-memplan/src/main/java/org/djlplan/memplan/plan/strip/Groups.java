package org.djlplan.memplan.plan.strip;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.PriorityQueue;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import org.djlplan.memplan.usage.UsageRecord;

/**
 * Groups of units that do not overlap, as few as possible: O(n log n) for n units.
 *
 * <p>A new group is opened only while every other one holds a unit that is alive, so there are as
 * many as units overlap at most, whichever free group is taken.
 */
final class Groups {

    /** A group and the size that its last unit counts for. */
    private record Free(long size, int group) {}

    /** A group that is free again after its last unit's last operator. */
    private record Busy(int last, Free then) {}

    private final NavigableSet<Free> free =
            new TreeSet<>(Comparator.comparingLong(Free::size).thenComparingInt(Free::group));
    private final PriorityQueue<Busy> busy =
            new PriorityQueue<>(Comparator.comparingInt(Busy::last));
    private final List<List<UsageRecord>> groups = new ArrayList<>();

    private Groups() {}

    /**
     * Returns the groups as they were made, each in order of time. A unit goes into the free group
     * whose last unit is nearest in size, of equals into the one made first.
     *
     * @param units by first operator
     * @param size what a unit's size counts for; constant if it does not matter
     */
    static List<List<UsageRecord>> of(List<UsageRecord> units, ToLongFunction<UsageRecord> size) {
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
