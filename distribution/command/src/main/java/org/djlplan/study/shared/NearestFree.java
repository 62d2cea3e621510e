package org.djlplan.study.shared;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.PriorityQueue;
import java.util.TreeSet;
import java.util.function.LongBinaryOperator;
import java.util.function.ToLongFunction;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;

/**
 * Assigns objects to units in execution order: the free object with the nearest size (on a tie the
 * larger, then the oldest), or a new one only if none is free. So the number of objects equals the
 * largest number of units alive at once. O(n log n).
 */
public final class NearestFree {

    private record Free(long size, int object) {}

    private record Busy(int last, Free then) {}

    private final NavigableSet<Free> free =
            new TreeSet<>(Comparator.comparingLong(Free::size).thenComparingInt(Free::object));
    private final PriorityQueue<Busy> busy =
            new PriorityQueue<>(Comparator.comparingInt(Busy::last));
    private final Map<Integer, Integer> objects = new HashMap<>();
    private int opened;

    private NearestFree() {}

    /**
     * Returns the number of every unit's object, by tensor id.
     *
     * @param units in any order; processed by first operator, ties by tensor id
     * @param size effective size of a unit; constant if sizes do not matter
     * @param next the new size of an object, from its size and that of the unit it receives
     */
    public static Map<Integer, Integer> objects(
            List<UsageRecord> units, ToLongFunction<UsageRecord> size, LongBinaryOperator next) {
        NearestFree assignment = new NearestFree();
        units.stream()
                .sorted(UnitOrders::byFirst)
                .forEachOrdered(unit -> assignment.add(unit, size.applyAsLong(unit), next));
        return assignment.objects;
    }

    private void add(UsageRecord unit, long size, LongBinaryOperator next) {
        while (!busy.isEmpty() && busy.element().last < unit.first()) {
            free.add(busy.remove().then);
        }
        Free taken = free.isEmpty() ? new Free(size, opened++) : nearest(size);
        free.remove(taken);
        objects.put(unit.tensor(), taken.object);
        busy.add(new Busy(unit.last(), new Free(next.applyAsLong(taken.size, size), taken.object)));
    }

    private Free nearest(long size) {
        Free larger = free.ceiling(new Free(size, 0));
        Free smaller = free.lower(new Free(size, 0));
        if (smaller == null || (larger != null && larger.size - size <= size - smaller.size)) {
            return larger;
        }
        return free.ceiling(new Free(smaller.size, 0));
    }
}
