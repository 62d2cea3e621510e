package org.djlplan.study.shared;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Greedy in order (Lee et al. 2019, on the memory manager): units in execution order, ties by
 * tensor id; each gets the free object with the nearest size (on a tie the larger), and the object
 * may have to grow; a new object is used only if none is free. The number of objects is thus the
 * smallest possible. O(n log n).
 */
public final class GreedyInOrder implements SharedObjectsStrategy {

    private record Free(long bytes, int object) {}

    @Override
    public String name() {
        return "shared-greedy-in-order";
    }

    @Override
    public int largestProblem() {
        return 1_000_000;
    }

    @Override
    public SharedObjectsPlan plan(PlanningProblem problem) {
        NavigableSet<Free> pool =
                new TreeSet<>(Comparator.comparingLong(Free::bytes).thenComparingInt(Free::object));
        ObjectsInUse inUse = new ObjectsInUse();
        List<Long> bytes = new ArrayList<>();
        ImmutableMap.Builder<Integer, Integer> objects = ImmutableMap.builder();
        for (UsageRecord unit : ObjectsInUse.inOrder(problem.units())) {
            inUse.release(unit, object -> pool.add(new Free(bytes.get(object), object)));
            int object;
            if (pool.isEmpty()) {
                object = bytes.size();
                bytes.add(unit.bytes());
            } else {
                Free nearest = nearest(pool, unit.bytes());
                pool.remove(nearest);
                object = nearest.object;
                bytes.set(object, Math.max(nearest.bytes, unit.bytes()));
            }
            objects.put(unit.tensor(), object);
            inUse.use(object, unit);
        }
        return new SharedObjectsPlan(name(), problem, objects.buildOrThrow());
    }

    private static Free nearest(NavigableSet<Free> pool, long bytes) {
        Free larger = pool.ceiling(new Free(bytes, 0));
        Free smaller = pool.lower(new Free(bytes, 0));
        if (smaller == null) {
            return larger;
        }
        if (larger != null && larger.bytes - bytes <= bytes - smaller.bytes) {
            return larger;
        }
        return pool.ceiling(new Free(smaller.bytes, 0));
    }
}
